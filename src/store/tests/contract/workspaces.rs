//! Cases about workspaces, and about rights that come from groups.

use notarium_core::{NotebookId, Role, UserId, WorkspaceId};
use notarium_store::accounts::*;

use super::accounts::{Accounts, apply, user, with_ann};

pub async fn a_workspace_keeps_an_owner(store: Accounts) {
    let ann = with_ann(&store).await;
    let (bob, lab) = (UserId::new("bob").unwrap(), WorkspaceId::new("lab").unwrap());
    let member = |user: &UserId, role| AccountChange::SetMember { workspace: lab.clone(), user: user.clone(), role };
    let workspace = Workspace { id: lab.clone(), name: "Lab".to_owned(), created_at: 2 };
    let changes = [
        AccountChange::CreateUser(user("bob", None, false)),
        AccountChange::CreateWorkspace(workspace.clone()),
        member(&ann, Some(Role::Owner)),
        member(&bob, Some(Role::Viewer)),
    ];
    apply(&store, &changes).await.unwrap();
    assert_eq!(store.workspace(&lab).await.unwrap(), Some(workspace.clone()));
    assert_eq!(apply(&store, &[member(&ann, None)]).await, Err(AccountError::LastWorkspaceOwner));
    assert_eq!(apply(&store, &[member(&ann, Some(Role::Editor))]).await, Err(AccountError::LastWorkspaceOwner));
    let rename = AccountChange::RenameWorkspace { workspace: lab.clone(), name: "Laboratory".to_owned() };
    apply(&store, &[member(&bob, Some(Role::Owner)), member(&ann, None), rename]).await.unwrap();
    let left = Membership { workspace_id: lab.clone(), user_id: bob.clone(), role: Role::Owner, from_group: None };
    let left = vec![left];
    assert_eq!(store.members(&lab).await.unwrap(), left);
    assert_eq!(store.memberships(&bob).await.unwrap(), left);
    assert_eq!(store.memberships(&ann).await.unwrap(), []);
    assert_eq!(store.workspaces(None, 5).await.unwrap()[0].name, "Laboratory");
    assert_eq!(store.workspaces(Some(&lab), 5).await.unwrap(), []);
}

pub async fn what_comes_from_groups_leaves_what_a_person_gave(store: Accounts) {
    let ann = with_ann(&store).await;
    let (bob, lab) = (UserId::new("bob").unwrap(), WorkspaceId::new("lab").unwrap());
    let by_hand = |user: &UserId, role| AccountChange::SetMember { workspace: lab.clone(), user: user.clone(), role };
    let by_group = |user: &UserId, role, group: &str| AccountChange::SetGroupMember {
        workspace: lab.clone(),
        user: user.clone(),
        role,
        group: group.to_owned(),
    };
    let removed = |user: &UserId| AccountChange::RemoveGroupMember { workspace: lab.clone(), user: user.clone() };
    let of = async |user: &UserId| {
        let found = store.memberships(user).await.unwrap().pop();
        found.map(|membership| (membership.role, membership.from_group))
    };
    let group = |name: &str| Some(name.to_owned());
    let changes = [
        AccountChange::CreateUser(user("bob", None, false)),
        AccountChange::CreateWorkspace(Workspace { id: lab.clone(), name: "Lab".to_owned(), created_at: 2 }),
        by_hand(&ann, Some(Role::Owner)),
        by_group(&bob, Role::Viewer, "students"),
    ];
    apply(&store, &changes).await.unwrap();
    assert_eq!(of(&bob).await, Some((Role::Viewer, group("students"))));
    apply(&store, &[by_group(&bob, Role::Editor, "staff"), by_group(&ann, Role::Viewer, "staff")]).await.unwrap();
    assert_eq!(of(&bob).await, Some((Role::Editor, group("staff"))));
    assert_eq!(of(&ann).await, Some((Role::Owner, None)), "a person gave it");
    apply(&store, &[removed(&ann), removed(&bob)]).await.unwrap();
    assert_eq!((of(&ann).await, of(&bob).await), (Some((Role::Owner, None)), None));
    // A membership that a person confirms does not come from the group any more.
    apply(&store, &[by_group(&bob, Role::Owner, "staff"), by_hand(&ann, Some(Role::Editor))]).await.unwrap();
    assert_eq!(apply(&store, &[removed(&bob)]).await, Err(AccountError::LastWorkspaceOwner));
    let demoted = by_group(&bob, Role::Viewer, "staff");
    assert_eq!(apply(&store, &[demoted]).await, Err(AccountError::LastWorkspaceOwner));
    apply(&store, &[by_hand(&bob, Some(Role::Owner)), removed(&bob)]).await.unwrap();
    assert_eq!(of(&bob).await, Some((Role::Owner, None)));
}

pub async fn an_administrator_by_a_group_is_one_until_it_is_left(store: Accounts) {
    let ann = with_ann(&store).await;
    let bob = UserId::new("bob").unwrap();
    let by_hand = |user: &UserId, is_admin| AccountChange::SetAdmin { user: user.clone(), is_admin };
    let by_group = |user: &UserId, group: Option<&str>| AccountChange::SetGroupAdmin {
        user: user.clone(),
        group: group.map(str::to_owned),
    };
    let of = async |user: &UserId| {
        (store.user(user).await.unwrap().unwrap().is_admin, store.admin_group(user).await.unwrap())
    };
    let changes = [
        AccountChange::CreateUser(user("bob", None, false)),
        by_group(&bob, Some("root")),
        by_group(&ann, Some("root")),
    ];
    apply(&store, &changes).await.unwrap();
    assert_eq!(of(&bob).await, (true, Some("root".to_owned())));
    assert_eq!(of(&ann).await, (true, None), "a person made her one");
    apply(&store, &[by_group(&bob, Some("wheel")), by_group(&ann, None)]).await.unwrap();
    assert_eq!((of(&bob).await, of(&ann).await), ((true, Some("wheel".to_owned())), (true, None)));
    apply(&store, &[by_hand(&ann, false)]).await.unwrap();
    assert_eq!(apply(&store, &[by_group(&bob, None)]).await, Err(AccountError::LastAdmin));
    assert_eq!(of(&bob).await, (true, Some("wheel".to_owned())));
    apply(&store, &[by_hand(&ann, true), by_group(&bob, None)]).await.unwrap();
    assert_eq!(of(&bob).await, (false, None));
    apply(&store, &[by_group(&bob, Some("root")), by_hand(&bob, true), by_group(&bob, None)]).await.unwrap();
    assert_eq!(of(&bob).await, (true, None), "a person has confirmed it");
}

pub async fn notebooks_are_placed_in_one_workspace(store: Accounts) {
    let (lab, class) = (WorkspaceId::new("lab").unwrap(), WorkspaceId::new("class").unwrap());
    let notebooks = ["n1", "n2"].map(|id| NotebookId::new(id).unwrap());
    let new = |id: &WorkspaceId| {
        AccountChange::CreateWorkspace(Workspace { id: id.clone(), name: String::new(), created_at: 1 })
    };
    let place = |notebook: &NotebookId, workspace: Option<&WorkspaceId>| AccountChange::PlaceNotebook {
        notebook: notebook.clone(),
        workspace: workspace.cloned(),
    };
    let changes = [
        new(&lab),
        new(&class),
        place(&notebooks[0], Some(&lab)),
        place(&notebooks[0], Some(&class)),
        place(&notebooks[1], Some(&lab)),
    ];
    apply(&store, &changes).await.unwrap();
    let [first, second] = notebooks;
    let both = [(first.clone(), class), (second.clone(), lab)];
    assert_eq!(store.placements(None, 5).await.unwrap(), both);
    assert_eq!(store.placements(Some(&first), 5).await.unwrap(), both[1..]);
    apply(&store, &[place(&second, None)]).await.unwrap();
    assert_eq!(store.placements(None, 5).await.unwrap(), both[..1]);
}

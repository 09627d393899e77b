//! Groups of the provider, and the rights that the operator gives to them.

use std::collections::{BTreeMap, BTreeSet};

use notarium_core::{Role, WorkspaceId};

use super::InvalidOidc;
use crate::auth::workspace_names::{NamedWorkspace, WorkspaceNames};

/// Claim that most providers use.
const DEFAULT_CLAIM: &str = "groups";

/// Settings about groups.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupSettings {
    /// Claim with the groups; absent: `groups`.
    pub claim: Option<String>,
    /// Groups whose members are administrators.
    pub admins: Vec<String>,
    /// Entries such as `staff=Lab` and `students=Class:viewer`.
    pub workspaces: Vec<String>,
}

/// Rights that groups give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRules {
    claim: String,
    admins: BTreeSet<String>,
    workspaces: Vec<WorkspaceRule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct WorkspaceRule {
    group: String,
    workspace: NamedWorkspace,
}

/// Membership that a group gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMembership {
    pub group: String,
    pub role: Role,
}

/// Rights of a person by the groups of that person.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct GroupGrants {
    /// Group that makes the person an administrator.
    pub admin: Option<String>,
    pub workspaces: BTreeMap<WorkspaceId, GroupMembership>,
    /// Groups of the person with a rule that names no workspace. Their earlier memberships stay.
    pub unresolved: BTreeSet<String>,
    /// Reasons, for the log.
    pub problems: Vec<String>,
}

impl GroupRules {
    /// Parses the settings; `None`: groups give no rights.
    pub fn of(settings: &GroupSettings) -> Result<Option<Self>, InvalidOidc> {
        let trimmed = |text: &String| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let admins: BTreeSet<String> = settings.admins.iter().filter_map(trimmed).collect();
        let entries = settings.workspaces.iter().filter_map(trimmed);
        let workspaces = entries.map(|entry| WorkspaceRule::parse(&entry)).collect::<Result<Vec<_>, _>>()?;
        let claim = settings.claim.as_ref().and_then(trimmed);
        if admins.is_empty() && workspaces.is_empty() {
            let reason =
                "--oidc-groups-claim needs --oidc-admin-group or --oidc-workspace-group: say what groups may do";
            return if claim.is_some() { Err(InvalidOidc(reason.to_owned())) } else { Ok(None) };
        }
        Ok(Some(Self { claim: claim.unwrap_or_else(|| DEFAULT_CLAIM.to_owned()), admins, workspaces }))
    }

    pub fn claim(&self) -> &str {
        &self.claim
    }

    /// Rights of a person in these groups; of several roles in a workspace the one with the most rights.
    pub fn grants(&self, groups: &[String], names: &WorkspaceNames) -> GroupGrants {
        let groups: BTreeSet<&String> = groups.iter().collect();
        let admin = self.admins.iter().find(|group| groups.contains(group)).cloned();
        let mut grants = GroupGrants { admin, ..GroupGrants::default() };
        for WorkspaceRule { group, workspace } in self.workspaces.iter().filter(|rule| groups.contains(&rule.group)) {
            let given = GroupMembership { group: group.clone(), role: workspace.role };
            match names.find(&workspace.name) {
                Ok(id) => {
                    let kept = grants.workspaces.entry(id).or_insert_with(|| given.clone());
                    if kept.role < given.role {
                        *kept = given;
                    }
                }
                Err(problem) => {
                    grants.unresolved.insert(group.clone());
                    grants.problems.push(problem);
                }
            }
        }
        grants
    }
}

impl WorkspaceRule {
    /// Splits at the last `=`: names of groups may be distinguished names with `=` in them.
    fn parse(entry: &str) -> Result<Self, InvalidOidc> {
        let parts = entry.rsplit_once('=').map(|(group, workspace)| (group.trim(), NamedWorkspace::parse(workspace)));
        match parts {
            Some((group, workspace)) if !group.is_empty() && !workspace.name.is_empty() => {
                Ok(Self { group: group.to_owned(), workspace })
            }
            _ => Err(InvalidOidc(format!(
                "--oidc-workspace-group must be GROUP=WORKSPACE or GROUP=WORKSPACE:ROLE, not '{entry}'"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(admins: &[&str], workspaces: &[&str]) -> GroupRules {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let settings = GroupSettings { claim: None, admins: owned(admins), workspaces: owned(workspaces) };
        GroupRules::of(&settings).unwrap().unwrap()
    }

    fn names() -> WorkspaceNames {
        WorkspaceNames::of([("Lab", "lab"), ("Class", "class")])
    }

    fn grants(rules: &GroupRules, groups: &[&str]) -> GroupGrants {
        let groups: Vec<String> = groups.iter().map(|group| (*group).to_owned()).collect();
        rules.grants(&groups, &names())
    }

    fn roles(grants: &GroupGrants) -> Vec<(&str, &str, Role)> {
        let roles = grants.workspaces.iter();
        roles.map(|(id, given)| (id.as_str(), given.group.as_str(), given.role)).collect()
    }

    #[test]
    fn the_group_with_the_most_rights_gives_the_role() {
        let rules =
            rules(&["root"], &["staff=Lab", "students=Lab:viewer", "cn=heads,ou=x=Lab:owner", "students=Class:runner"]);
        let of_student = grants(&rules, &["students", "others"]);
        assert_eq!(roles(&of_student), [("class", "students", Role::Runner), ("lab", "students", Role::Viewer)]);
        assert_eq!(of_student.admin, None);
        let of_both = grants(&rules, &["staff", "students", "root"]);
        assert_eq!(roles(&of_both), [("class", "students", Role::Runner), ("lab", "staff", Role::Editor)]);
        assert_eq!(of_both.admin.as_deref(), Some("root"));
        assert_eq!(roles(&grants(&rules, &["cn=heads,ou=x"])), [("lab", "cn=heads,ou=x", Role::Owner)]);
        assert_eq!(grants(&rules, &[]), GroupGrants::default());
    }

    #[test]
    fn a_rule_without_its_workspace_is_a_problem_of_its_group_alone() {
        let rules = rules(&[], &["staff=Laboratory", "students=Class"]);
        let grants = grants(&rules, &["staff", "students"]);
        assert_eq!(grants.unresolved, ["staff".to_owned()].into());
        assert!(grants.problems.len() == 1 && grants.problems[0].contains("'Laboratory'"), "{grants:?}");
        assert_eq!(grants.workspaces.len(), 1);
    }

    #[test]
    fn settings_that_give_nothing_are_refused() {
        assert_eq!(GroupRules::of(&GroupSettings::default()), Ok(None));
        let claim = GroupSettings { claim: Some("roles".to_owned()), ..GroupSettings::default() };
        assert!(GroupRules::of(&claim).unwrap_err().to_string().contains("--oidc-admin-group"));
        for entry in ["staff", "=Lab", "staff=", "staff= :viewer"] {
            let settings = GroupSettings { workspaces: vec![entry.to_owned()], ..GroupSettings::default() };
            let refused = GroupRules::of(&settings).unwrap_err().to_string();
            assert!(refused.contains("GROUP=WORKSPACE") && refused.contains(entry), "{refused}");
        }
    }
}

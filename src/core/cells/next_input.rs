//! Text that a run offers for a cell, as `%load` and `%recall` do: it replaces the source of the run's cell, or becomes a new cell
//! below. Only for runs of people who may edit: an assistant's text goes through its tools and their gate.

use crate::access::granted_role;
use crate::authority::Operation;
use crate::cells::{decide_insert, decide_replace};
use crate::checks::{check_not_archived, live_cell};
use crate::context::Context;
use crate::notebook::Notebook;
use crate::runs::reports::reported;
use crate::values::decision::{Decision, RejectionCode, Result};
use crate::values::{InsertCell, NextInput, Place};
use notarium_record::{Actor, CellType, Document, Millis};

pub(crate) fn decide(
    notebook: &Notebook,
    context: &mut Context,
    NextInput { execution_id, fence, text, replace }: &NextInput,
) -> Result<Decision> {
    let execution = reported(notebook, context, execution_id, *fence)?;
    check_not_archived(notebook)?;
    let may_edit = may_edit(notebook, &execution.requested_by, context.now);
    RejectionCode::InvalidValue.when(!may_edit, || "who requested the run may not edit: show the text as an output")?;
    let ran = execution.subject.clone();
    let Some(cell_id) = ran.cell_id() else {
        return Err(RejectionCode::InvalidValue.because("the code belongs to no cell: show the text as an output"));
    };
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let cell = live_cell(notebook, context, cell_id)?;
    if *replace && cell.content.cell_type == CellType::Code && cell.content.source == ran.source() {
        return decide_replace(notebook, context, cell_id.clone(), cell.cell_version, &text);
    }
    let place = Place::After(cell_id.clone());
    decide_insert(notebook, context, InsertCell::new(CellType::Code, text, place))
}

/// Checks the rights that the notebook gives the person or the share link itself. Rights of a workspace's members are known only
/// with their own commands.
fn may_edit(notebook: &Document, requested_by: &Actor, now: Millis) -> bool {
    if !matches!(requested_by, Actor::User { .. } | Actor::Guest { .. }) {
        return false;
    }
    let own = requested_by.subject().and_then(|subject| granted_role(notebook, &subject, now));
    own.is_some_and(|role| Operation::Edit.is_open_to(role))
}

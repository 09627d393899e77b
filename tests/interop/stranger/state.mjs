// A notebook's state: README section 2, "apply".
const ENDED = ['ok', 'error', 'cancelled', 'lost']
const SUBJECTS = ['user', 'share_link', 'workspace', 'agent']
const UNDOABLE = [
  'CellInserted',
  'CellSourceEdited',
  'CellMoved',
  'CellTypeChanged',
  'CellDeleted',
  'CellRestored',
  'CellMetadataSet',
  'CellAttachmentsSet',
  'CellFlagsSet',
  'NotebookRenamed',
  'NotebookMetadataSet',
  'UndoSkipped'
]

export const fresh = id => ({
  notebook_id: id,
  version: 0,
  title: '',
  metadata: {},
  created_at: 0,
  updated_at: 0,
  access: [],
  cells: {},
  order: [],
  latest: {},
  executions: {},
  kernels: {}
})

const empty = v => v == null || v === false || (typeof v === 'object' && !Object.keys(v).length)
function put(o, key, value) {
  if (empty(value)) delete o[key]
  else o[key] = value
} // optional fields that are empty are left out
const compact = o => {
  for (const k of Object.keys(o)) put(o, k, o[k])
  return o
}
const sameSubject = s => e => e.subject.kind === s.kind && e.subject.id === s.id
const bySubject = (a, b) =>
  SUBJECTS.indexOf(a.subject.kind) - SUBJECTS.indexOf(b.subject.kind) || (a.subject.id < b.subject.id ? -1 : 1)
export const actorKey = a =>
  a.kind === 'assistant'
    ? `assistant:${a.for_user}:${a.conversation}`
    : a.kind === 'guest'
      ? `guest:${a.share_link}`
      : a.kind === 'system'
        ? 'system'
        : `${a.kind}:${a.id}`

function sort(s) {
  const text = (a, b) => (a < b ? -1 : a > b ? 1 : 0)
  s.order = Object.keys(s.cells).sort((a, b) => text(s.cells[a].order_key, s.cells[b].order_key) || text(a, b))
}
function prune(s) {
  // a finished execution stays only as the latest of a live cell
  const shown = new Set(Object.values(s.latest))
  for (const [id, e] of Object.entries(s.executions)) if (ENDED.includes(e.status) && !shown.has(id)) delete s.executions[id]
}
function undo(s, event, p) {
  const key = actorKey(event.actor),
    cells = p.cell_id ? [p.cell_id] : [],
    u = ((s.undo ??= {})[key] ??= { undo: [], redo: [] })
  let to = u.undo
  const take = (list, id) => {
    const i = list.findLastIndex(g => g.correlation_id === id)
    if (i >= 0) list.splice(i, 1)
    return i >= 0
  }
  if (!event.undoes) u.redo = []
  else if (take(u.undo, event.undoes)) to = u.redo
  else if (!take(u.redo, event.undoes) && u.redo.some(g => g.correlation_id === event.correlation_id)) to = u.redo
  const group = to.find(g => g.correlation_id === event.correlation_id)
  if (group) {
    group.last_version = event.version
    group.cells = [...new Set([...group.cells, ...cells])].sort()
  } else to.push({ correlation_id: event.correlation_id, first_version: event.version, last_version: event.version, cells })
  if (to.length > 100) to.shift()
}

const EVENTS = {
  NotebookCreated(s, p, e) {
    s.title = p.title
    s.metadata = p.metadata
    s.created_at = e.recorded_at
    EVENTS.AccessGranted(s, { subject: p.owner, role: 'owner' })
  },
  NotebookRenamed(s, p) {
    s.title = p.title
  },
  NotebookMetadataSet(s, p) {
    s.metadata = p.metadata
  },
  NotebookArchived(s) {
    s.archived = true
  },
  NotebookUnarchived(s) {
    delete s.archived
  },
  VersionNamed(s, p) {
    ;(s.named_versions ??= {})[p.version] = p.name
  },
  AccessGranted(s, p) {
    s.access = [
      ...s.access.filter(e => !sameSubject(p.subject)(e)),
      compact({ subject: p.subject, role: p.role, expires_at: p.expires_at })
    ].sort(bySubject)
  },
  AccessRevoked(s, p) {
    s.access = s.access.filter(e => !sameSubject(p.subject)(e))
  },
  CellInserted(s, p, e) {
    const { latest_execution, ...cell } = p.cell
    s.cells[p.cell_id] = { ...compact({ ...cell }), source: cell.source, cell_version: e.version, source_version: e.version }
    sort(s)
  },
  CellRestored(s, p, e) {
    EVENTS.CellInserted(s, p, e)
    const id = p.cell.latest_execution
    if (id && p.execution) s.executions[id] = compact2(p.execution)
    if (id && s.executions[id]) s.latest[p.cell_id] = id
  },
  CellSourceEdited(s, p, e, apply) {
    const c = s.cells[p.cell_id]
    if (c) {
      c.source = apply(p.change, c.source)
      c.cell_version = c.source_version = e.version
    }
  },
  CellMoved(s, p, e) {
    const c = s.cells[p.cell_id]
    if (c) {
      c.order_key = p.order_key
      c.cell_version = e.version
      sort(s)
    }
  },
  CellTypeChanged(s, p, e) {
    const c = s.cells[p.cell_id]
    if (c) {
      c.cell_type = p.cell_type
      c.cell_version = e.version
    }
  },
  CellMetadataSet(s, p) {
    if (s.cells[p.cell_id]) put(s.cells[p.cell_id], 'metadata', p.metadata)
  },
  CellAttachmentsSet(s, p) {
    if (s.cells[p.cell_id]) put(s.cells[p.cell_id], 'attachments', p.attachments)
  },
  CellFlagsSet(s, p) {
    if (s.cells[p.cell_id]) put(s.cells[p.cell_id], 'flags', compact({ ...p.flags }))
  },
  CellDeleted(s, p) {
    delete s.cells[p.cell_id]
    delete s.latest[p.cell_id]
    sort(s)
  },
  CellOutputsCleared(s, p) {
    delete s.latest[p.cell_id]
  },
  ExecutionRequested(s, p, e) {
    s.executions[p.execution_id] = {
      ...compact({ kernel_session: p.kernel_session, timeout_ms: p.timeout_ms, stop_on_error: p.stop_on_error }),
      subject: p.subject,
      status: 'queued',
      cause: p.cause,
      requested_by: e.actor,
      requested_at: e.recorded_at,
      requested_version: e.version,
      correlation_id: e.correlation_id,
      output_seq: 0
    }
    if (p.subject.kind === 'cell' && s.cells[p.subject.cell_id]) s.latest[p.subject.cell_id] = p.execution_id
  },
  ExecutionAssigned: run((x, p) => {
    x.status = 'assigned'
    x.kernel_session = p.kernel_session
    put(x, 'agent', p.agent)
    x.fence = p.fence
  }),
  ExecutionStarted: run((x, p, e) => {
    x.status = 'running'
    x.started_at = e.recorded_at
  }),
  OutputAppended: run((x, p) => {
    if (x.clear_on_next_output) {
      delete x.outputs
      delete x.clear_on_next_output
    }
    put(x, 'outputs', [...(x.outputs ?? []), ...p.outputs.map(o => compact({ ...o }))])
  }),
  OutputRecovered: run(() => {}), // only its output_seq
  OutputUpdated(s, p, e) {
    run(() => {})(s, p, e)
    for (const x of Object.values(s.executions))
      x.outputs?.forEach((o, i) => {
        if (o.display_id === p.display_id) x.outputs[i] = compact({ ...p.output, display_id: p.display_id })
      })
  },
  OutputsCleared: run((x, p) => {
    if (p.wait) x.clear_on_next_output = true
    else {
      delete x.outputs
      delete x.clear_on_next_output
    }
  }),
  InputRequested: run((x, p) => {
    x.pending_input = { prompt: p.prompt, password: p.password }
  }),
  InputAnswered: run(x => {
    delete x.pending_input
  }),
  ExecutionCompleted: run((x, p, e) => {
    end(x, p.ok ? 'ok' : 'error', e, p.notice)
    if (p.execution_count != null) x.execution_count = p.execution_count
  }),
  ExecutionCancelled: run((x, p, e) => end(x, 'cancelled', e, p.cause)),
  ExecutionLost: run((x, p, e) => end(x, 'lost', e, p.cause)),
  KernelLaunchRequested(s, p, e) {
    s.kernels[p.kernel_session] = { kernelspec: p.kernelspec, phase: 'requested', requested_version: e.version }
  },
  KernelLaunchClaimed(s, p) {
    const k = s.kernels[p.kernel_session]
    if (k) {
      k.phase = 'claimed'
      k.agent = p.agent
    }
  },
  KernelSessionStarted(s, p, e) {
    const k = s.kernels[p.kernel_session]
    if (!k) return
    Object.assign(k, { phase: 'started', agent: p.agent, kernelspec: p.kernelspec, fence: e.version })
    put(k, 'language_info', p.language_info)
    delete s.kernel_notice
  },
  RestartRequested(s, p, e) {
    const k = s.kernels[p.kernel_session]
    if (k) {
      k.phase = 'ending'
      s.kernels[p.next] = compact({
        kernelspec: k.kernelspec,
        phase: 'claimed',
        requested_version: k.requested_version,
        agent: k.agent
      })
    }
  },
  ShutdownRequested(s, p) {
    if (s.kernels[p.kernel_session]) s.kernels[p.kernel_session].phase = 'ending'
  },
  InterruptRequested: run(x => {
    x.cancel_requested = true
  }),
  KernelLaunchFailed: gone,
  KernelSessionEnded: gone
}
function compact2(x) {
  return { ...compact({ ...x }), output_seq: x.output_seq ?? 0 }
}
function run(change) {
  return (s, p, e) => {
    const x = s.executions[p.execution_id]
    if (x) {
      if (p.output_seq != null) x.output_seq = p.output_seq
      change(x, p, e)
    }
  }
}
function end(x, status, e, notice) {
  x.status = status
  x.ended_at = e.recorded_at
  put(x, 'notice', notice)
  delete x.pending_input
}
function gone(s, p, e) {
  const k = s.kernels[p.kernel_session]
  if (!k) return
  delete s.kernels[p.kernel_session]
  if (k.phase !== 'ending') s.kernel_notice = { kernel_session: p.kernel_session, cause: p.cause, version: e.version }
}

export function applyEvent(s, event, applyChange) {
  const p = event.payload
  EVENTS[event.type]?.(s, p, event, applyChange) // unknown types only move the version
  prune(s)
  if (UNDOABLE.includes(event.type)) undo(s, event, p)
  s.version = event.version
  s.updated_at = event.recorded_at
}

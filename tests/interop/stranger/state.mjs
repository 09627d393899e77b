// A notebook's document: protocol/events.md, "State".
import { isDeepStrictEqual } from 'node:util'
import { moved } from './text.mjs'

const ENDED = ['ok', 'error', 'cancelled', 'blocked', 'lost']
const SUBJECTS = ['user', 'share_link', 'workspace', 'agent']
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
// Visible text of a message: section 11, "Prompt cells".
const textOf = blocks => blocks.map(b => b.text?.text ?? '').join('')
function firstUnits(text, units) {
  if (units == null || units >= text.length) return text
  const code = text.charCodeAt(units - 1)
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? units - 1 : units)
}
function replyOf(s, turnId) {
  const reply = s.cells[s.turns?.[turnId]?.cell_id]?.reply
  return reply?.turn_id === turnId ? reply : undefined
}
function set(s, map, id, value) {
  ;(s[map] ??= {})[id] = value
}
function drop(s, map, id) {
  if (s[map]) {
    delete s[map][id]
    if (empty(s[map])) delete s[map]
  }
}
const turn = change => (s, p, e) => {
  if (s.turns?.[p.turn_id]) change(s.turns[p.turn_id], p, e)
}
const endTurn = change => (s, p) => {
  const t = s.turns?.[p.turn_id]
  if (!t) return
  const reply = replyOf(s, p.turn_id)
  if (reply) change(reply, p)
  if (s.conversations?.[t.conversation_id]) delete s.conversations[t.conversation_id].turn
  drop(s, 'turns', p.turn_id)
}
const endCall = (s, p) => drop(s, 'tool_calls', p.call_id)
const endGrant = (s, p) => drop(s, 'grants', p.grant_id)

// Newest schema of each type that this client knows, if it is not 1.
const SCHEMAS = { ExecutionRequested: 2, CellRestored: 2, KernelFunctionsRegistered: 2, GrantIssued: 2, KernelLaunchRequested: 2 }
export const knows = e => Object.hasOwn(EVENTS, e.type) && e.schema <= (SCHEMAS[e.type] ?? 1)

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
  NotebookErased(s, p, e) {
    const { notebook_id, version, updated_at } = s
    for (const field of Object.keys(s)) delete s[field]
    Object.assign(s, { notebook_id, version, title: '', metadata: {}, created_at: 0, updated_at, access: p.access })
    Object.assign(s, { cells: {}, order: [], latest: {}, executions: {}, kernels: {} })
    s.erased = { by: e.actor, at: e.recorded_at, reason: p.reason, version: p.version, hash: p.hash }
  },
  NotebookVersionNamed(s, p) {
    ;(s.named_versions ??= {})[p.version] = p.name
  },
  AccessGranted(s, p) {
    s.access = [
      ...s.access.filter(e => !sameSubject(p.subject)(e)),
      compact({ subject: p.subject, role: p.role, expires_at: p.expires_at })
    ].sort(bySubject)
  },
  UndoSkipped() {},
  NotebookRestored() {},
  ContentRedacted(s, p, e) {
    s.redaction_epoch = e.version
  },
  AccessRevoked(s, p) {
    s.access = s.access.filter(e => !sameSubject(p.subject)(e))
  },
  CellInserted(s, p, e) {
    s.cells[p.cell_id] = { ...compact({ ...p.cell }), source: p.cell.source, cell_version: e.version, source_version: e.version }
    if (p.reply) s.cells[p.cell_id].reply = { ...compact({ ...p.reply }), prompt: p.reply.prompt, text: p.reply.text }
    sort(s)
  },
  CellRestored(s, p, e) {
    EVENTS.CellInserted(s, p, e)
    if (!p.latest_execution) return
    s.latest[p.cell_id] = p.latest_execution
    if (p.execution) s.executions[p.latest_execution] ??= compact2(p.execution)
  },
  CellSourceEdited(s, p, e, apply) {
    const c = s.cells[p.cell_id]
    if (!c) return
    c.source = apply(p.change, c.source)
    c.cell_version = c.source_version = e.version
    for (const t of Object.values(s.threads ?? {})) if (t.cell_id === p.cell_id && t.range) t.range = moved(t.range, p.change)
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
  ThreadStarted(s, { thread_id, cell_id, range, quote }) {
    set(s, 'threads', thread_id, { ...compact({ cell_id, range, quote }), comments: [] })
  },
  ThreadMoved: thread((t, p) => {
    t.cell_id = p.cell_id
    put(t, 'range', p.range)
  }),
  ThreadResolved: thread((t, p, e) => {
    t.resolved = { by: e.actor, at: e.recorded_at }
  }),
  ThreadReopened: thread(t => {
    delete t.resolved
  }),
  CommentPosted: thread((t, { comment_id, text, mentions }, e) => {
    t.comments.push(compact({ comment_id, text, mentions, author: e.actor, posted_at: e.recorded_at }))
  }),
  CommentEdited: thread((t, p, e) => {
    const comment = t.comments.find(c => c.comment_id === p.comment_id)
    if (!comment) return
    Object.assign(comment, { text: p.text, edited_at: e.recorded_at })
    put(comment, 'mentions', p.mentions)
  }),
  CommentDeleted(s, p, e) {
    thread(t => {
      t.comments = t.comments.filter(c => c.comment_id !== p.comment_id)
    })(s, p, e)
    if (s.threads?.[p.thread_id]?.comments.length === 0) drop(s, 'threads', p.thread_id)
  },
  ExecutionRequested(s, p, e) {
    s.executions[p.execution_id] = {
      ...compact({ kernel_session: p.kernel_session, timeout_ms: p.timeout_ms, stop_on_error: p.stop_on_error }),
      subject: p.subject,
      status: 'queued',
      cause: p.cause,
      effects: p.effects,
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
  ExecutionOutputAppended: run((x, p) => {
    if (x.clear_on_next_output) {
      delete x.outputs
      delete x.clear_on_next_output
    }
    put(x, 'outputs', [...(x.outputs ?? []), ...p.outputs.map(o => compact({ ...o }))])
  }),
  ExecutionOutputRecovered: run(() => {}), // only its output_seq
  ExecutionOutputUpdated(s, p, e) {
    run(() => {})(s, p, e)
    for (const x of Object.values(s.executions))
      x.outputs?.forEach((o, i) => {
        if (o.display_id === p.display_id) x.outputs[i] = compact({ ...p.output, display_id: p.display_id })
      })
  },
  ExecutionOutputsMoved: run((x, p) => {
    for (const m of [...p.moved].reverse())
      if (x.outputs && m.first + m.count <= x.outputs.length) x.outputs.splice(m.first, m.count, compact({ ...m.output }))
  }),
  ExecutionOutputsCleared: run((x, p) => {
    if (p.wait) x.clear_on_next_output = true
    else {
      delete x.outputs
      delete x.clear_on_next_output
    }
  }),
  ExecutionInputRequested: run((x, p) => {
    x.pending_input = { prompt: p.prompt, password: p.password }
  }),
  ExecutionInputAnswered: run(x => {
    delete x.pending_input
  }),
  ExecutionEffectRefused: run((x, { kind, target, count }) => {
    const known = x.refused ?? []
    const place = known.findIndex(one => one.kind === kind)
    x.refused = place < 0 ? [...known, { kind, target, count }] : known.with(place, { kind, target, count })
  }),
  ExecutionCompleted: run((x, p, e) => {
    end(x, p.outcome === 'ok' ? 'ok' : 'error', e, p.notice)
    if (p.outcome !== 'ok' && p.outcome !== 'error') x.end_cause = p.outcome
    if (p.execution_count != null) x.execution_count = p.execution_count
  }),
  ExecutionCancelled: run((x, p, e) => end(x, 'cancelled', e, p.detail, p.cause)),
  ExecutionBlocked: run((x, p, e) => {
    end(x, 'blocked', e)
    x.blocked_by = p.blocked_by
  }),
  ExecutionLost: run((x, p, e) => end(x, 'lost', e, p.detail, p.cause)),
  KernelLaunchRequested(s, p, e) {
    const k = { kernelspec: p.kernelspec, phase: 'requested', requested_version: e.version }
    const placement = {}
    if (p.agent != null) placement.agent = p.agent
    if (Object.keys(p.labels ?? {}).length > 0) placement.labels = p.labels
    if (Object.keys(placement).length > 0) k.placement = placement
    s.kernels[p.kernel_session] = k
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
    put(k, 'sandbox', p.sandbox)
    delete s.kernel_notice
  },
  KernelRestartRequested(s, p, e) {
    const k = s.kernels[p.kernel_session]
    if (k) {
      k.phase = 'ending'
      s.kernels[p.next] = compact({
        kernelspec: k.kernelspec,
        phase: 'claimed',
        requested_version: k.requested_version,
        agent: k.agent,
        placement: k.placement
      })
    }
  },
  KernelShutdownRequested(s, p) {
    if (s.kernels[p.kernel_session]) s.kernels[p.kernel_session].phase = 'ending'
  },
  KernelInterruptRequested() {},
  ExecutionCancelRequested: run(x => {
    x.cancel_requested = true
  }),
  KernelLaunchFailed: gone,
  KernelSessionEnded(s, p, e) {
    for (const f of Object.values(s.functions ?? {})) if (f.kernel_session === p.kernel_session) delete f.kernel_session
    gone(s, p, e)
  },
  KernelFunctionsRegistered(s, p, e) {
    const known = s.functions ?? {}
    const names = p.functions.map(f => f.name)
    for (const [name, f] of Object.entries(known)) if (f.kernel_session === p.kernel_session && !names.includes(name)) delete known[name]
    for (const f of p.functions) {
      const same = known[f.name] && isDeepStrictEqual(known[f.name].function, f)
      const registered_version = same ? known[f.name].registered_version : e.version
      set(s, 'functions', f.name, { function: f, registered_version, kernel_session: p.kernel_session })
    }
    put(s, 'functions', s.functions)
  },
  KernelFunctionsForgotten(s, p) {
    for (const name of p.names) drop(s, 'functions', name)
  },
  NotebookKernelSettingsSet(s, p) {
    const isUnset = p.settings.replacement === 'ask' && Object.keys(p.settings.labels).length === 0
    put(s, 'kernel_settings', isUnset ? null : p.settings)
  },
  ScheduleSet(s, p, e) {
    const { run, last } = s.schedules?.[p.schedule_id] ?? {}
    const schedule = { maker: e.actor, settings: p.settings, after: e.recorded_at, run, last }
    set(s, 'schedules', p.schedule_id, compact(schedule))
  },
  ScheduleRemoved(s, p) {
    drop(s, 'schedules', p.schedule_id)
  },
  ScheduledRunStarted(s, p, e) {
    const it = s.schedules?.[p.schedule_id]
    if (!it) return
    const actor = e.actor.kind === 'user' ? e.actor : it.maker
    const run = { notebook: p.run, version: p.version, due: p.due, started_at: e.recorded_at, actor, settings: it.settings }
    it.run = compact(run)
    it.after = Math.max(it.after, p.due ?? 0)
  },
  ScheduledRunEnded(s, p, e) {
    const it = s.schedules?.[p.schedule_id]
    if (!it) return
    const { due, outcome, cell_id, error, detail, missed } = p
    it.last = compact({ notebook: p.run, due, outcome, ended_at: e.recorded_at, cell_id, error, detail, missed })
    it.after = Math.max(it.after, due ?? 0)
    if (p.run) delete it.run
    if (outcome === 'refused') it.stopped = true
  },
  NotebookReactivitySet(s, p) {
    put(s, 'reactivity', p.reactivity === 'off' ? null : p.reactivity)
  },
  NotebookPolicyChanged(s, p) {
    put(s, 'policy', p.policy === 'guarded' ? null : p.policy)
  },
  ConversationStarted(s, p, e) {
    const is_outside = e.actor.kind === 'assistant'
    const c = { title: p.title, started_by: e.actor, started_at: e.recorded_at }
    set(s, 'conversations', p.conversation_id, is_outside ? { ...c, is_outside } : c)
  },
  ConversationClosed: (s, p) => drop(s, 'conversations', p.conversation_id),
  MessagePosted(s, p) {
    const reply = p.role === 'assistant' && p.turn_id ? replyOf(s, p.turn_id) : undefined
    if (!reply) return
    const whole = textOf(p.blocks)
    const shown = firstUnits(whole, p.reply_units)
    if (shown.length < whole.length) reply.is_cut = true
    reply.text += (reply.text && shown ? '\n\n' : '') + shown
  },
  MessageFlagged(s, p) {
    const c = s.conversations?.[p.conversation_id]
    if (!c) return
    c.flagged ??= {}
    put(c.flagged, p.message_id, compact({ ...p.flags }))
    put(c, 'flagged', c.flagged)
  },
  TurnStarted(s, p, e) {
    const c = s.conversations?.[p.conversation_id]
    if (c) {
      c.turn = p.turn_id
      delete c.is_outside
    }
    const { turn_id, conversation_id, message_id, cell_id, model, scopes, is_bound } = p
    set(s, 'turns', turn_id, {
      ...compact({ cell_id, model }),
      ...{ conversation_id, message_id, scopes, is_bound },
      requested_by: e.actor,
      started_version: e.version,
      started_at: e.recorded_at,
      model_calls: 0,
      attempts: 0
    })
    const cell = s.cells[p.cell_id]
    if (cell) cell.reply = { turn_id, status: 'running', prompt: cell.source, text: '' }
  },
  TurnModelCallStarted: turn((t, p) => {
    Object.assign(t, { model_calls: p.number, attempts: p.attempt, model_call_claimant: p.claimant })
    delete t.is_model_call_failed
  }),
  TurnModelCallFinished: turn((t, p) => {
    delete t.model_call_claimant
    put(t, 'is_model_call_failed', p.failure != null)
  }),
  TurnFinished: endTurn((r, p) => Object.assign(r, { status: 'finished', stop_reason: p.stop_reason })),
  TurnCancelled: endTurn(r => Object.assign(r, { status: 'stopped' })),
  TurnFailed: endTurn((r, p) => Object.assign(r, compact({ status: 'failed', cause: p.cause, detail: p.detail }))),
  ToolCallRequested(s, p, e) {
    const { call_id, function: name, arguments_hash, risk, reasons, targets, turn_id, gate, after } = p
    set(s, 'tool_calls', call_id, {
      ...compact({ function: name, arguments_hash, risk, reasons, targets, turn_id, gate, after }),
      arguments: p.arguments,
      requested_by: e.actor,
      requested_at: e.recorded_at,
      requested_version: e.version,
      phase: { phase: p.gate.kind === 'passes' ? 'passed' : 'waiting' }
    })
  },
  ToolCallConfirmed(s, p, e) {
    if (s.tool_calls?.[p.call_id]) s.tool_calls[p.call_id].phase = { phase: 'confirmed', by: e.actor }
  },
  ToolCallStarted(s, p, e) {
    if (s.tool_calls?.[p.call_id]) s.tool_calls[p.call_id].phase = { phase: 'started', at: e.recorded_at, claimant: p.claimant }
  },
  ToolCallDenied: endCall,
  ToolCallWithdrawn: endCall,
  ToolCallVoided: endCall,
  ToolCallExpired: endCall,
  ToolCallExecuted: endCall,
  GrantIssued(s, p, e) {
    const { grant_id, conversation_id, for_user, functions, kinds, expires_at } = p
    const covers = compact({ conversation_id, for_user, functions, kinds, expires_at })
    set(s, 'grants', grant_id, { ...covers, issued_by: e.actor })
  },
  GrantRevoked: endGrant,
  GrantExpired: endGrant
}
function compact2(x) {
  return { ...compact({ ...x }), output_seq: x.output_seq ?? 0 }
}
function thread(change) {
  return (s, p, e) => {
    if (s.threads?.[p.thread_id]) change(s.threads[p.thread_id], p, e)
  }
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
function end(x, status, e, notice, cause) {
  x.status = status
  x.ended_at = e.recorded_at
  put(x, 'end_cause', cause)
  put(x, 'notice', notice)
  delete x.pending_input
}
function gone(s, p, e) {
  const k = s.kernels[p.kernel_session]
  if (!k) return
  delete s.kernels[p.kernel_session]
  const { kernel_session, cause, detail } = p
  if (k.phase !== 'ending') s.kernel_notice = compact({ kernel_session, cause, detail, version: e.version })
}

export function applyEvent(s, event, applyChange) {
  const p = event.payload
  EVENTS[event.type](s, p, event, applyChange) // the caller has asked `knows`
  prune(s)
  s.version = event.version
  s.updated_at = event.recorded_at
}

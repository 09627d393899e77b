// A client of the Notarium protocol, version 1, written from protocol/README.md alone.
import WebSocket from 'ws'
import { EventEmitter } from 'node:events'
import { randomUUID } from 'node:crypto'
import { apply, compose, map, replacement } from './text.mjs'
import { applyEvent, knows } from './state.mjs'

export class Rejection extends Error {
  constructor(reject) {
    super(`${reject.code}: ${reject.message}`)
    Object.assign(this, reject)
  }
}

export class Client extends EventEmitter {
  constructor({ url, token, name = 'stranger/1.0' }) {
    super()
    Object.assign(this, { url: url.replace(/^http/, 'ws').replace(/\/$/, '') + '/api/socket', token, name })
    this.notebooks = new Map()
    this.pending = new Map() // pending: command id → {message, resolve, reject}, in the order of sending
    this.welcome = null
    this.closed = false
    this.failures = 0
  }

  connect() {
    this.#open()
    return this.#once('welcome', 'fatal')
  }
  #once(good, bad) {
    return new Promise((ok, no) => {
      this.once(good, ok)
      if (bad) this.once(bad, e => no(new Error(e.message)))
    })
  }

  #open() {
    const ws = (this.ws = new WebSocket(this.url, { maxPayload: 64 << 20 }))
    const alive = () => {
      clearTimeout(this.watch)
      this.watch = setTimeout(() => ws.terminate(), 3 * (this.welcome?.heartbeat_ms ?? 10000))
    }
    ws.on('open', () => {
      alive()
      this.send({ hello: { protocols: { min: 1, max: 1 }, token: this.token, client: this.name } })
    })
    ws.on('ping', alive)
    ws.on('message', data => {
      alive()
      this.#message(JSON.parse(data))
    })
    ws.on('error', () => {}) // 'close' follows
    ws.on('close', (code, reason) => {
      clearTimeout(this.watch)
      this.live = false
      this.emit('down', { code, reason: String(reason) })
      for (const n of this.notebooks.values()) n.live = false
      if (this.closed) return
      const wait = Math.min(500 * 2 ** this.failures++, 30000) * (0.5 + Math.random())
      this.timer = setTimeout(() => this.#open(), wait)
    })
  }

  send(message) {
    this.emit('sent', message)
    this.ws.send(JSON.stringify(message))
  }
  cut() {
    this.ws.terminate()
  } // a broken network
  close() {
    this.closed = true
    clearTimeout(this.timer)
    this.ws.close()
  }

  #message(message) {
    this.emit('received', message)
    const [name, m] = Object.entries(message)[0],
      notebook = this.notebooks.get(m?.notebook)
    if (name === 'welcome') {
      this.welcome = m
      this.live = true
      this.failures = 0
      for (const n of this.notebooks.values()) n.subscribe()
      for (const p of this.pending.values()) this.send(p.message)
      this.emit('welcome', m)
    } else if (name === 'ack' || name === 'reject') {
      const p = this.pending.get(m.id)
      if (!p) return
      if (m.code === 'unavailable') return void setTimeout(() => this.live && this.pending.has(m.id) && this.send(p.message), 500)
      this.pending.delete(m.id)
      if (name === 'ack') p.resolve(m)
      else p.reject(new Rejection(m))
    } else if (name === 'error') {
      if (m.fatal && ['unauthenticated', 'forbidden', 'unsupported_protocol'].includes(m.code)) this.closed = true
      if (m.fatal) this.emit('fatal', m)
      this.emit('trouble', m)
      notebook?.emit('trouble', m)
    } else notebook?.[`on_${name}`]?.(m)
  }

  command(notebook, body, { id = randomUUID(), ...rest } = {}) {
    // rest: expected_version, correlation_id
    const message = { command: { id, notebook, ...rest, body } }
    return new Promise((resolve, reject) => {
      this.pending.set(id, { message, resolve, reject })
      if (this.live) this.send(message)
    })
  }

  follow(id) {
    const n = new Notebook(this, id)
    this.notebooks.set(id, n)
    return new Promise((ok, no) => {
      n.once('subscribed', () => ok(n))
      n.once('trouble', e => no(new Error(`${e.code}: ${e.message}`)))
      if (this.live) n.subscribe()
    })
  }
}

export class Notebook extends EventEmitter {
  constructor(client, id) {
    super()
    this.setMaxListeners(0)
    this.client = client
    this.id = id
    this.state = null
    this.texts = new Map()
    this.peers = new Map()
    this.seen = []
  }

  subscribe({ afresh = false } = {}) {
    this.waiting = true // for `subscribed`
    const m = { notebook: this.id }
    if (this.state && !afresh) m.since = { version: this.state.version, event_id: this.lastEvent }
    this.told = new Set(this.texts.keys())
    if (this.told.size)
      m.unconfirmed = [...this.texts].map(([cell_id, t]) => ({ cell_id, base: this.state.version }))
    this.client.send({ subscribe: m })
  }

  on_subscribed(m) {
    if (m.snapshot && [...this.texts.keys()].some(cell => !this.told.has(cell))) return this.subscribe() // lacks that text
    this.waiting = false
    this.live = true
    this.role = m.role
    this.kernels = m.kernels ?? []
    this.peers = new Map((m.peers ?? []).map(p => [p.connection, p]))
    this.lastEvent = m.event_id
    if (m.snapshot) {
      // `diverged`: every unconfirmed cell is in `base_too_old`
      for (const e of m.unconfirmed_events ?? []) if (e.version > this.state.version) this.#text(e)
      for (const cell of m.base_too_old ?? []) this.#giveUp(cell, new Error('base_too_old'))
      this.state = m.snapshot
      this.seen = []
      for (const cell of this.texts.keys()) if (!this.state.cells[cell]) this.#giveUp(cell, new Error('the cell is gone'))
    }
    this.emit('subscribed', m)
    this.emit('change')
    for (const cell of this.texts.keys()) this.#flush(cell)
  }
  on_resync() {
    this.waiting = true
    this.told = new Set()
  }
  on_access(m) {
    this.role = m.role ?? null
    this.emit('access', this.role)
    this.emit('change')
  }
  on_kernels(m) {
    this.kernels = m.kernels
    this.emit('change')
  }
  on_presence(m) {
    for (const p of m.peers ?? []) this.peers.set(p.connection, p)
    for (const c of m.left ?? []) this.peers.delete(c)
    this.emit('change')
  }

  on_events(m) {
    if (!this.state || this.waiting) return
    if (m.from > this.state.version + 1) return this.subscribe() // something was lost
    for (const e of m.events) {
      if (e.version <= this.state.version) continue
      if (!knows(e)) return this.subscribe({ afresh: true }) // only the server's state helps
      applyEvent(this.state, e, apply)
      this.lastEvent = e.id
      this.seen.push(e)
      if (this.texts.has(e.payload?.cell_id)) this.#text(e)
      this.emit('event', e)
    }
    // a change without effect has no event
    for (const [cell, t] of this.texts) if (t.sent?.acked <= this.state.version) this.#confirmed(cell)
    this.emit('change')
  }

  // --- text: one sent change per cell, further typing in a buffer ---
  text(cell) {
    const t = this.texts.get(cell),
      source = this.state.cells[cell]?.source
    return [t?.sent?.change, t?.buffer].reduce((doc, c) => (c ? apply(c, doc) : doc), source)
  }
  edit(cell, change) {
    // change applies to text(cell); resolves when the server has everything typed in this cell
    const t = this.texts.get(cell) ?? { sent: null, buffer: null, waiters: [] }
    this.texts.set(cell, t)
    t.buffer = t.buffer ? compose(t.buffer, change) : change
    const done = new Promise((ok, no) => t.waiters.push([ok, no]))
    this.#flush(cell)
    return done
  }
  splice(cell, from, to, text) {
    return this.edit(cell, replacement(this.text(cell), from, to, text))
  }
  replace(cell, source, cell_version = this.state.cells[cell].cell_version) {
    return this.command({ ReplaceSource: { cell_id: cell, cell_version, source } })
  }

  #flush(cell) {
    const t = this.texts.get(cell)
    if (!t || t.sent || !t.buffer || !this.live) return
    const id = randomUUID(),
      base = this.state.version
    t.sent = { id, base, change: t.buffer }
    t.buffer = null
    this.client.command(this.id, { EditSource: { cell_id: cell, base, change: t.sent.change } }, { id }).then(
      ack => {
        if (t.sent?.id !== id) return
        if (this.state.version >= ack.version) this.#confirmed(cell)
        else t.sent.acked = ack.version
      },
      error => {
        if (t.sent?.id !== id) return
        if (error.code !== 'base_too_old') return this.#giveUp(cell, error)
        // the server no longer has the edits since: subscribe again, then send the mapped change as another command
        t.buffer = t.buffer ? compose(t.sent.change, t.buffer) : t.sent.change
        t.sent = null
        if (!this.waiting) this.subscribe()
      }
    )
  }
  #text(e) {
    // an event about a cell with unconfirmed text
    const t = this.texts.get(e.payload.cell_id)
    if (!t || e.type !== 'CellSourceEdited') return
    if (e.command_id === t.sent?.id) return this.#confirmed(e.payload.cell_id)
    let over = e.payload.change
    for (const part of [t.sent, t]) {
      const key = part === t ? 'buffer' : 'change',
        mine = part?.[key]
      if (mine) {
        part[key] = map(mine, over, false)
        over = map(over, mine, true)
      }
    }
    this.emit('remote', e.payload.cell_id, over) // for an editor that shows text(cell)
  }
  #confirmed(cell) {
    const t = this.texts.get(cell)
    t.sent = null
    if (t.buffer) queueMicrotask(() => this.#flush(cell))
    else {
      this.texts.delete(cell)
      t.waiters.forEach(([ok]) => ok())
    }
  }
  #giveUp(cell, error) {
    const t = this.texts.get(cell)
    if (!t) return
    this.texts.delete(cell)
    t.waiters.forEach(([, no]) => no(error))
  }

  // --- commands, runs ---
  command(body, options) {
    return this.client.command(this.id, body, options)
  }
  async insert(cell_type, source = '', more = {}) {
    return (await this.command({ InsertCell: { cell_type, source, ...more } })).outcome.cells[0]
  }
  async run(target, more = {}, limit = 60000) {
    // → {id, status, outputs}; outputs also of runs that the state forgets
    const execution_id = randomUUID(),
      outputs = []
    let completed = null
    const hear = e => {
      if (e.payload?.execution_id !== execution_id) return
      if (e.type === 'ExecutionOutputAppended') outputs.push(...e.payload.outputs)
      if (/^Execution(Completed|Cancelled|Blocked|Lost)$/.test(e.type)) completed = e
    }
    this.on('event', hear)
    const t = typeof target === 'string' ? { cell: { cell_id: target } } : target
    try {
      const ack = await this.command({ RequestExecution: { execution_id, target: t, ...more } })
      await this.until(() => completed, limit, 'the run to end')
      return { id: execution_id, ack, type: completed.type, ok: completed.payload.outcome === 'ok', outputs }
    } finally {
      this.off('event', hear)
    }
  }
  // Deadline: ten times the time needed on an idle machine.
  until(test, limit = 5000, what = String(test)) {
    return new Promise((ok, no) => {
      const look = () => {
        let v
        try {
          v = test(this)
        } catch (e) {
          v = null
        }
        if (v) {
          clearTimeout(timer)
          this.off('change', look)
          ok(v)
        }
      }
      const timer = setTimeout(() => {
        this.off('change', look)
        no(new Error(`waited ${10 * limit} ms for ${what}`))
      }, 10 * limit)
      this.on('change', look)
      look()
    })
  }
}

// NOTARIUM_URL=http://127.0.0.1:PORT NOTARIUM_TOKEN=nt_… [NOTARIUM_KERNEL=1] node test.mjs
import { readFileSync, readdirSync, existsSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import assert from 'node:assert/strict'
import { Client } from './client.mjs'
import { canonical, digest } from './digest.mjs'
import { applyEvent, fresh } from './state.mjs'
import { apply, compose, map, replacement } from './text.mjs'
import { complaints } from './schema.mjs'

const protocol = new URL('../../../protocol/', import.meta.url)
const read = path => readFileSync(new URL(path, protocol), 'utf8')
const json = path => JSON.parse(read(path))
const list = path => (existsSync(new URL(path, protocol)) ? readdirSync(new URL(path, protocol)).map(f => path + f) : [])
const schemas = Object.fromEntries(
  ['client-message', 'server-message', 'event-payloads', 'command', 'notebook'].map(n => [n, json(`schema/${n}.json`)])
)

let passed = 0,
  failed = 0
async function test(name, body) {
  const started = Date.now()
  try {
    await body()
    passed++
    console.log(`ok    ${name} (${Date.now() - started} ms)`)
  } catch (e) {
    failed++
    console.log(`FAIL  ${name}\n${e.stack}`)
  }
}
async function rejects(promise, code) {
  const e = await promise.then(
    () => assert.fail(`expected ${code}`),
    e => e
  )
  assert.equal(e.code, code, e.stack)
  return e
}
const limit = (promise, ms, what) => {
  let t
  return Promise.race([
    promise,
    new Promise((_, no) => {
      t = setTimeout(() => no(new Error(`waited ${10 * ms} ms for ${what}`)), 10 * ms)
    })
  ]).finally(() => clearTimeout(t))
}

// --- the document's own examples ---
await test('golden messages fit the schemas', () => {
  for (const side of ['client', 'server'])
    for (const f of list(`golden/messages/${side}/`)) assert.deepEqual(complaints(schemas[`${side}-message`], json(f)), [], f)
  for (const f of list('golden/commands/')) assert.deepEqual(complaints(schemas.command, json(f).body ?? json(f)), [], f)
})
await test('golden digest', () => {
  const example = json('golden/digest.json')
  assert.equal(canonical(example.document), example.canonical)
  assert.equal(digest(example.document), example.digest)
})
await test('golden text', () => {
  for (const line of read('golden/text/codemirror-cases.jsonl').trim().split('\n')) {
    const c = JSON.parse(line)
    const same = (mine, theirs, doc) =>
      c.exact ? assert.deepEqual(mine, theirs) : assert.equal(apply(mine, doc), apply(theirs, doc))
    assert.equal(apply(c.a, c.doc), c.after_a)
    same(compose(c.a, c.c), c.compose, c.doc)
    same(map(c.a, c.b), c.a_over_b, c.after_b)
    same(map(c.a, c.b, true), c.a_over_b_before, c.after_b)
    same(map(c.b, c.a), c.b_over_a, c.after_a)
    same(map(c.b, c.a, true), c.b_over_a_before, c.after_a)
    assert.equal(apply(map(c.a, c.b), c.after_b), apply(map(c.b, c.a, true), c.after_a)) // they meet
  }
})
for (const f of list('golden/scenarios/'))
  await test(f, () => {
    const s = json(f),
      state = fresh(s.state?.notebook_id)
    s.events.forEach((e, i) => {
      applyEvent(state, e, apply)
      assert.equal(digest(state), s.digests[i], `after ${e.type}, version ${e.version}`)
    })
    assert.deepEqual(state, s.state)
  })

// --- with a server ---
const { NOTARIUM_URL: url, NOTARIUM_TOKEN: token, NOTARIUM_KERNEL: kernel } = process.env
if (url)
  await withServer().catch(e => {
    failed++
    console.log('FAIL ', e.stack)
  })
else console.log('no NOTARIUM_URL: the rest needs a server')
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed ? 1 : 0)

async function withServer() {
  const wrong = [],
    clients = []
  const client = async (as = token) => {
    const c = new Client({ url, token: as })
    const check = (schema, who) => m => {
      for (const x of complaints(schemas[schema], m)) wrong.push(`${who} ${Object.keys(m)}: ${x}`)
    }
    c.on('sent', check('client-message', 'we sent'))
    c.on('received', check('server-message', 'we got'))
    c.on('received', m => {
      for (const e of m.events?.events ?? [])
        if (schemas['event-payloads'].$defs[e.type])
          for (const x of complaints({ $ref: `#/$defs/${e.type}` }, e.payload, schemas['event-payloads']))
            wrong.push(`${e.type} ${x}`)
    })
    c.on('trouble', e => console.log('      error from the server:', JSON.stringify(e)))
    clients.push(c)
    await limit(c.connect(), 5000, 'welcome')
    return c
  }
  const id = randomUUID()
  let A, B, a, b, one, two, code
  const both = async () => {
    // B, A and a fresh snapshot are at one version and the same
    const version = Math.max(a.state.version, b.state.version)
    await Promise.all([a, b].map(n => n.until(() => n.state.version >= version, 5000, `version ${version}`)))
    assert.deepEqual(b.state, a.state)
    const C = await client(),
      c = await limit(C.follow(id), 5000, 'a snapshot')
    assert.deepEqual(a.state, c.state)
    C.close()
  }
  const gapless = n => n.seen.forEach((e, i) => assert.equal(e.version, n.seen[0].version + i))

  await test('connects: hello, welcome', async () => {
    A = await client()
    B = await client()
    assert.equal(A.welcome.protocol, 1)
    assert.notEqual(A.welcome.connection, B.welcome.connection)
  })
  await test('a wrong token is refused and the connection closed', async () => {
    const c = new Client({ url, token: 'nt_wrong' }),
      down = new Promise(ok => c.once('down', ok))
    let code
    c.on('trouble', e => {
      code = e.code
      assert.equal(e.fatal, true)
    })
    await assert.rejects(limit(c.connect(), 5000, 'refusal'))
    await limit(down, 5000, 'the close')
    assert.equal(code, 'unauthenticated')
  })
  await test('an unknown notebook', async () => {
    await assert.rejects(limit(B.follow(randomUUID()), 5000, 'an answer'), /unknown_notebook/)
  })
  await test('creates a notebook, once', async () => {
    const command = { CreateNotebook: { title: 'Stranger', metadata: { kernelspec: { name: 'python3' } } } },
      name = randomUUID()
    const ack = await A.command(id, command, { id: name }),
      again = await A.command(id, command, { id: name })
    assert.deepEqual(again, ack)
    await rejects(A.command(id, { CreateNotebook: { title: 'Another' } }, { id: name }), 'command_id_reused')
    await rejects(A.command(id, command), 'notebook_exists')
    a = await limit(A.follow(id), 5000, 'subscribed')
    b = await limit(B.follow(id), 5000, 'subscribed')
    assert.equal(a.state.title, 'Stranger')
    assert.equal(a.role, 'owner')
    await both()
  })
  await test('inserts cells', async () => {
    one = await a.insert('markdown', 'one')
    two = await a.insert('markdown', '# two\n', { place: { before: one }, metadata: { tags: ['x'] } })
    code = await a.insert('code', '', { cell_id: 'stranger-code', place: { after: one }, flags: { pinned: true } })
    assert.equal(code, 'stranger-code')
    assert.deepEqual(a.state.order, [two, one, code])
    await both()
  })
  await test('the events of a command come before its ack, to its connection', async () => {
    const { version } = await a.command({ RenameNotebook: { title: 'Renamed' } })
    assert.ok(a.state.version >= version)
    assert.equal(a.state.title, 'Renamed')
  })
  await test('edits by change, in UTF-16 units', async () => {
    await a.edit(one, [3, [0, ' 😀', 'and more']])
    assert.equal(a.state.cells[one].source, 'one 😀\nand more')
    await a.splice(one, 4, 6, '')
    for (const x of 'typed quickly') a.splice(one, 0, 0, x) // one sent, the rest in the buffer
    assert.equal(a.text(one), [...'typed quickly'].reverse().join('') + 'one \nand more')
    await a.until(() => !a.texts.size)
    assert.equal(a.state.cells[one].source, [...'typed quickly'].reverse().join('') + 'one \nand more')
    await both()
  })
  await test('edits by whole text', async () => {
    await a.replace(one, 'a whole\nnew text')
    assert.equal(a.state.cells[one].source, 'a whole\nnew text')
    await both()
  })
  await test('a conflict, and other rejections, change nothing', async () => {
    const cell = a.state.cells[one],
      stale = cell.cell_version
    await a.replace(one, 'newer')
    const before = a.state.version,
      e = await rejects(a.replace(one, 'lost?', stale), 'conflict')
    assert.equal(e.expected_version, stale)
    assert.equal(e.actual_version, a.state.cells[one].cell_version)
    const v = await rejects(a.command({ RenameNotebook: { title: 'no' } }, { expected_version: 1 }), 'conflict')
    assert.equal(v.expected_version, 1)
    assert.equal(v.actual_version, before)
    await rejects(a.command({ EditSource: { cell_id: one, base: before, change: [99] } }), 'invalid_change')
    await rejects(a.command({ EditSource: { cell_id: one, base: before + 9, change: [5, [0, 'x']] } }), 'version_in_future')
    await rejects(a.command({ DeleteCell: { cell_id: 'never-was' } }), 'unknown_cell')
    await rejects(a.command({ RequestExecution: { target: { cell: { cell_id: one } } } }), 'not_runnable')
    await rejects(
      a.command({ Batch: { commands: [{ DeleteCell: { cell_id: two } }, { DeleteCell: { cell_id: 'never-was' } }] } }),
      'unknown_cell'
    )
    assert.equal(a.state.version, before)
    await both()
  })
  await test('concurrent edits from two connections meet and lose nothing', async () => {
    await a.replace(one, 'middle')
    await b.until(() => b.state.version >= a.state.version)
    const typing = []
    for (let i = 0; i < 20; i++) {
      // both type at both ends and in the middle without waiting for one another
      typing.push(a.splice(one, 0, 0, `A${i},`), b.splice(one, 0, 0, `B${i},`))
      const [x, y] = [a.text(one), b.text(one)]
      typing.push(a.splice(one, x.length, x.length, `,a${i}`), b.splice(one, y.length, y.length, `,b${i}`))
      const at = a.text(one).indexOf('dle')
      typing.push(a.splice(one, at, at, '-'))
      if (i % 5 === 4) await a.until(() => a.state.version > 0 && a.texts.size === 0) // let some pass
    }
    await limit(Promise.all(typing), 10000, 'all to be confirmed')
    await both()
    const text = a.state.cells[one].source
    for (let i = 0; i < 20; i++)
      for (const word of [`A${i},`, `B${i},`, `,a${i}`, `,b${i}`])
        assert.equal(
          text.split(word).length,
          2 + (/^,./.test(word) && i < 2 ? text.split(new RegExp(word + '\\d')).length - 1 : 0),
          `${word} in ${text}`
        )
    assert.match(text, /mid-{20}dle/)
    await both()
    assert.equal(b.text(one), text)
  })
  await test('of two insertions at one place the one recorded first stands left', async () => {
    await a.replace(one, '[]')
    const base = a.state.version
    await a.command({ EditSource: { cell_id: one, base, change: [1, [0, '1'], 1] } })
    const rest = a.command({ EditSource: { cell_id: one, base, change: [1, [0, '2'], 1] } }) // from the same base
    await rest
    assert.equal(a.state.cells[one].source, '[12]')
    await a.command({ EditSource: { cell_id: one, base, change: [[2, 'all']] } }) // deletes what it saw, not what came since
    assert.match(a.state.cells[one].source, /12/)
    await both()
  })
  await test('the same edit twice: an edit that comes to nothing', async () => {
    await a.replace(one, 'xyz')
    await b.until(() => b.state.version >= a.state.version)
    await limit(Promise.all([a.splice(one, 1, 2, ''), b.splice(one, 1, 2, '')]), 5000, 'both acks')
    assert.equal(a.text(one), 'xz')
    assert.equal(b.text(one), 'xz')
    await both()
  })
  await test('moves, types, metadata, flags, attachments, deletes, restores, batches, names, archives', async () => {
    const v = () => a.state.cells[one].cell_version
    await a.command({ MoveCell: { cell_id: one, place: 'start', cell_version: v() } })
    assert.equal(a.state.order[0], one)
    await a.command({ ChangeCellType: { cell_id: one, cell_type: 'raw', cell_version: v() } })
    await a.command({ SetCellMetadata: { cell_id: one, metadata: { a: 1 } } })
    await a.command({ SetCellMetadata: { cell_id: one, metadata: {} } })
    await a.command({ SetCellFlags: { cell_id: one, flags: { bookmark: 3, skipped: true } } })
    await a.command({ SetCellFlags: { cell_id: one, flags: { bookmark: 0, skipped: false } } })
    await a.command({ SetCellAttachments: { cell_id: one, attachments: { 'x.txt': { 'text/plain': 'x' } } } })
    await both()
    await a.command({ SetCellAttachments: { cell_id: one } })
    await both()
    await a.command({ DeleteCell: { cell_id: one } })
    assert.ok(!a.state.cells[one])
    await both()
    await rejects(a.command({ EditSource: { cell_id: one, base: a.state.version, change: [2] } }), 'cell_deleted')
    await a.command({ RestoreCell: { cell_id: one } })
    assert.equal(a.state.cells[one].source, 'xz')
    await both()
    await a.command({
      Batch: {
        commands: [
          { InsertCell: { cell_type: 'sql', source: 'select 1' } },
          { InsertCell: { cell_type: 'prompt', source: 'why?' } }
        ]
      }
    })
    await both()
    await a.command({ SetNotebookMetadata: { metadata: { language_info: { name: 'python' } } } })
    await a.command({ NameVersion: { version: 3, name: 'three' } })
    await a.command({ ArchiveNotebook: {} })
    await both()
    await rejects(a.insert('code'), 'notebook_archived')
    await a.command({ UnarchiveNotebook: {} })
    await both()
    for (const kind of ['workspace', 'share_link', 'agent'])
      await a
        .command({ GrantAccess: { subject: { kind, id: 'x' + kind }, role: 'viewer' } })
        .catch(e => console.log(`      grant to ${kind}: ${e.message}`))
    await both()
  })
  await test('undo and redo', async () => {
    const correlation_id = randomUUID()
    await a.command({ ChangeCellType: { cell_id: one, cell_type: 'markdown' } })
    for (const text of ['u', 'v']) {
      const at = a.text(one).length
      await a.command({ EditSource: { cell_id: one, base: a.state.version, change: [at, [0, text]] } }, { correlation_id })
    }
    assert.equal(a.state.cells[one].source, 'xzuv')
    await both()
    await a.command({ Undo: {} })
    assert.equal(a.state.cells[one].source, 'xz', 'one step')
    await both()
    assert.equal(a.seen.at(-1).undoes, correlation_id)
    await a.command({ Redo: {} })
    assert.equal(a.state.cells[one].source, 'xzuv')
    await both()
    await a.command({ Undo: {} })
    await both()
    await a.command({ Undo: { steps: 2 } })
    await both()
    await a.command({ Redo: { steps: 2 } })
    await both()
    await a.command({ DeleteCell: { cell_id: one } })
    await a.command({ Undo: {} })
    assert.equal(a.state.cells[one].source, 'xz')
    await both()
    await rejects(a.command({ Undo: { correlation_id: 'never-was' } }), 'nothing_to_undo')
    for (const [correlation_id, text] of [
      ['g1', '1'],
      ['g2', '2'],
      ['g1', '3']
    ])
      // two groups in turns
      await a.command(
        { EditSource: { cell_id: one, base: a.state.version, change: [2, [0, text], a.text(one).length - 2].filter(x => x) } },
        { correlation_id }
      )
    await both()
    await a.command({ Undo: { correlation_id: 'g2' } })
    assert.equal(a.state.cells[one].source, 'xz31')
    await both()
    await a.command({ Undo: {} })
    await both()
    await a.command({ SetCellFlags: { cell_id: one, flags: { exported: true } } }, { correlation_id: 'g3' })
    await a.command({ SetCellFlags: { cell_id: one, flags: { exported: false } } })
    console.log(
      '      undo of what is overwritten:',
      JSON.stringify((await a.command({ Undo: { correlation_id: 'g3' } })).outcome),
      a.seen.at(-1).type
    )
    await both()
  })
  await test('reconnects in the middle, without gap or duplicate', async () => {
    await a.until(() => a.state.version >= b.state.version)
    const length = a.text(one).length
    const edits = [a.splice(one, length, length, '<first>')] // sent
    edits.push(a.splice(one, 0, 0, '<buffer>'))
    const insert = a.insert('markdown', 'exactly once')
    A.cut() // perhaps they arrived, perhaps not
    edits.push(a.splice(one, 0, 0, '<offline>'))
    const insert2 = a.insert('markdown', 'exactly once too')
    await b.splice(one, 0, 0, '<b>')
    await b.insert('raw', 'while A was away')
    await limit(Promise.all([...edits, insert, insert2]), 15000, 'the resumption')
    await b.until(() => b.state.version >= a.state.version)
    await both()
    gapless(a)
    gapless(b)
    for (const word of ['<first>', '<buffer>', '<offline>', '<b>'])
      assert.equal(a.state.cells[one].source.split(word).length, 2, `${word} in ${a.state.cells[one].source}`)
    for (const text of ['exactly once', 'exactly once too', 'while A was away'])
      assert.equal(Object.values(a.state.cells).filter(c => c.source === text).length, 1, text)
  })
  await test('cut right after the ack: the same command again gets the same answer and does nothing', async () => {
    const name = randomUUID(),
      body = { InsertCell: { cell_type: 'raw', source: 'repeat' } }
    const ack = await a.command(body, { id: name })
    A.cut()
    assert.deepEqual(await a.command(body, { id: name }), ack)
    assert.equal(Object.values(a.state.cells).filter(c => c.source === 'repeat').length, 1)
    await both()
    gapless(a)
  })
  await test('a long absence: a snapshot or the events, the text is kept', async () => {
    const up = new Promise(ok => a.once('subscribed', ok))
    a.splice(one, 0, 0, '<kept>')
    A.cut()
    a.splice(one, 0, 0, '<also>')
    a.splice(two, 0, 0, '<offline two>')
    for (let i = 0; i < 3000; i++) b.command({ RenameNotebook: { title: `${i}` } })
    await b.splice(one, 0, 0, '<far>')
    const m = await limit(up, 15000, 'subscribed')
    console.log(
      `      resumed ${m.snapshot ? 'with a snapshot' : 'with events'}`,
      m.unconfirmed_events?.map(e => e.version),
      m.base_too_old
    )
    await a.until(() => !a.texts.size && a.state.version >= b.state.version, 15000)
    assert.match(a.text(two), /<offline two>/)
    for (const word of ['<kept>', '<also>', '<far>']) assert.equal(a.text(one).split(word).length, 2, `${word} in ${a.text(one)}`)
    await both()
  })
  await test('an event of a newer server: the state is taken afresh, and nothing is folded on top of it', async () => {
    const sent = []
    const note = m => m.subscribe && sent.push(m.subscribe)
    A.on('sent', note)
    for (const [type, schema] of [['CellDreamt', 1], ['NotebookRenamed', 2]]) {
      const before = structuredClone(a.state)
      const came = new Promise(ok => a.once('subscribed', ok))
      const event = { id: randomUUID(), type, schema, version: before.version + 1, payload: { title: 'guessed' } }
      const after = { ...event, id: randomUUID(), type: 'NotebookRenamed', schema: 1, version: before.version + 2 }
      a.on_events({ notebook: id, from: event.version, events: [event, after] })
      assert.deepEqual(a.state, before, 'as it was')
      assert.ok((await limit(came, 5000, 'subscribed')).snapshot, 'a whole state')
      assert.deepEqual(a.state, before, 'which never had those events')
      await b.command({ RenameNotebook: { title: `after ${type}` } })
      await a.until(() => a.state.title === `after ${type}`)
    }
    A.off('sent', note)
    assert.deepEqual(sent.map(m => m.since), [undefined, undefined])
    await both()
  })
  await test('presence', async () => {
    A.send({ presence: { notebook: id, state: { cell_id: one, selection: [0, 2], typing: true } } })
    await b.until(() => b.peers.get(A.welcome.connection)?.state?.typing, 5000, 'the presence of A')
  })
  await test('unknown messages and broken JSON: an error, the connection stays', async () => {
    const heard = [],
      C = await client()
    const wait = () =>
      new Promise(ok => {
        const hear = m => {
          const x = m.error ?? m.reject
          if (x) {
            C.off('received', hear)
            ok({ code: (m.reject ? 'reject ' : '') + x.code + (x.fatal ? ' fatal' : '') })
          }
        }
        C.on('received', hear)
      })
    for (const text of [
      '{"nonsense": {}}',
      '{"subscribe": {"notebook": "x", "colour": 1}}',
      '{',
      `{"command": {"id": "x1", "notebook": "${id}", "body": {"Nonsense": {}}}}`
    ]) {
      const answer = limit(wait(), 5000, `an error for ${text}`)
      C.ws.send(text)
      heard.push((await answer).code)
    }
    console.log(`      ${heard}`)
    assert.ok((await limit(C.follow(id), 5000, 'subscribed')).state)
    C.close()
  })
  await test('plays a runtime agent: section 6', async () => {
    const rest = (method, path, body) =>
      fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: body && JSON.stringify(body)
      })
    const made = await rest('POST', '/api/agents', { name: 'stranger', covers: { notebooks: [id] } })
    if (!made.ok) return console.log(`      no agent's token with this token: ${made.status} ${await made.text()}`)
    const agent = await made.json(),
      G = await client(agent.token),
      work = new Promise(ok => G.on('received', m => m.work && ok(m.work)))
    try {
      G.send({ offer: { kernelspecs: [{ name: 'stranger', display_name: 'Stranger', language: 'none' }] } })
      const {
        outcome: { kernel_session: k }
      } = await a.command({ LaunchKernel: { kernelspec: 'stranger' } })
      const w = await limit(work, 5000, 'work')
      assert.deepEqual(w, { notebook: id, kernel_session: k, kernelspec: 'stranger' })
      const g = await limit(G.follow(id), 5000, 'subscribed')
      await both()
      await g.command({ ClaimKernelLaunch: { kernel_session: k } })
      await both()
      await g.command({ ReportKernelStarted: { kernel_session: k, language_info: { name: 'none' } } })
      await both()
      const fence = g.state.kernels[k].fence
      assert.equal(fence, g.state.version)
      G.send({ kernel_status: { notebook: id, kernel_session: k, busy: true } })
      await a.until(() => a.kernels.some(x => x.kernel_session === k && x.busy && x.reachable), 5000, 'a busy kernel')
      await a.replace(code, 'run me')
      const stream = text => ({ content: { output_type: 'stream', name: 'stdout', text } }),
        display = (text, display_id) => ({
          content: { output_type: 'display_data', data: { 'text/plain': text }, metadata: {} },
          display_id
        })
      const start = async (body = {}) => {
        const { outcome } = await a.command({
            RequestExecution: { target: { cell: { cell_id: code } }, kernel_session: k, ...body }
          }),
          x = outcome.executions[0]
        await g.until(() => g.state.executions[x]?.status === 'assigned', 5000, 'the assignment')
        await both()
        let seq = 0
        const report = async r => {
          await g.command({ ReportExecution: { execution_id: x, fence, seq: ++seq, report: r } })
          await both()
        }
        await report({ started: {} })
        return [x, report, s => (seq = s)]
      }
      let [x, report] = await start()
      await report({ output: { outputs: [stream('one\n'), display('0 %', 'bar')] } })
      await report({ output: { outputs: [stream('one again\n')] } })
      const again = await g.command({
        ReportExecution: { execution_id: x, fence, seq: 2, report: { output: { outputs: [stream('twice')] } } }
      })
      assert.equal(again.version, a.state.version) // a number that the log has
      await report({ update_display: { display_id: 'bar', output: display('50 %', 'bar') } })
      await report({ clear: { wait: true } })
      await report({ output: { outputs: [stream('after the clear\n')] } })
      await report({ clear: { wait: true } })
      await report({ clear: { wait: false } })
      await report({ output: { outputs: [stream('last\n')] } })
      await report({ clear: { wait: true } })
      await report({ input_request: { prompt: 'name?', password: false } })
      const value = new Promise(ok => G.on('received', m => m.input_value && ok(m.input_value)))
      await a.command({ AnswerInput: { execution_id: x, value: 'Ada' } })
      assert.equal((await limit(value, 5000, 'the answer')).value, 'Ada')
      await both()
      await report({ completed: { outcome: 'ok', execution_count: 1, notice: 'odd' } })
      assert.equal(a.state.executions[x].status, 'ok')
      let [y, report2] = await start()
      assert.ok(!a.state.executions[x])
      await report2({ output: { outputs: [display('kept', 'd2')] } })
      await report2({ input_request: { prompt: 'pw', password: true } })
      await a.command({ DeleteCell: { cell_id: code } })
      await both()
      await a.command({ RestoreCell: { cell_id: code } })
      await both() // while it runs
      await a.command({ CancelExecution: { execution_id: y } })
      await both()
      assert.equal(a.state.executions[y].cancel_requested, true)
      await report2({ completed: { outcome: 'error' } })
      await a.command({ DeleteCell: { cell_id: code } })
      await both()
      await a.command({ RestoreCell: { cell_id: code } })
      await both()
      assert.equal(a.state.latest[code], y)
      let [z, report3] = await start({ target: { scratch: { source: '2', purpose: 'to see' } } })
      await report3({ output: { outputs: [display('elsewhere', 'd2')] } })
      await report3({ update_display: { display_id: 'd2', output: display('both', 'd2') } })
      await report3({ update_display: { display_id: 'd2', output: { content: display('nameless').content } } })
      await report3({ completed: { outcome: 'ok' } })
      assert.ok(!a.state.executions[z])
      let [u, report4] = await start({ timeout_ms: 100000, stop_on_error: true })
      const waits = (await a.command({ RequestExecution: { target: { cell: { cell_id: code } }, kernel_session: k } })).outcome
        .executions[0]
      await both()
      await a.command({ RestartKernel: { kernel_session: k } })
      await both()
      const next = a.seen.findLast(e => e.type === 'KernelRestartRequested').payload.next
      await report4({ output: { outputs: [stream('between')] } })
      await g.command({ ReportKernelEnded: { kernel_session: k, cause: 'restarted' } })
      await both()
      console.log('      after a restart:', a.state.executions[u]?.status ?? 'gone', a.state.executions[waits]?.status)
      await rejects(
        g.command({ ReportExecution: { execution_id: waits, fence, seq: 1, report: { started: {} } } }),
        'stale_fence'
      ).catch(e => console.log('     ', e.message))
      await g.command({ ReportKernelStarted: { kernel_session: next, language_info: {} } })
      await both()
      await a.command({ InterruptKernel: { kernel_session: next } }).catch(e => console.log('     ', e.message))
      await both()
      await a.command({ ShutDownKernel: { kernel_session: next } })
      await both()
      await g.command({ ReportKernelEnded: { kernel_session: next, cause: 'shut_down' } })
      await both()
      for (const last of ['died', 'no memory']) {
        const { outcome } = await a.command({ LaunchKernel: { kernelspec: 'stranger' } }),
          n = outcome.kernel_session
        await g.until(() => g.state.kernels[n])
        await g.command({ ClaimKernelLaunch: { kernel_session: n } })
        if (last === 'died') {
          await g.command({ ReportKernelStarted: { kernel_session: n, language_info: {} } })
          await g.command({ ReconcileKernels: { alive: [] } })
        } else await g.command({ ReportKernelLaunchFailed: { kernel_session: n, cause: 'cannot_start', detail: last } })
        await both()
        console.log('      notice:', JSON.stringify(a.state.kernel_notice))
      }
      await a.command({ ClearOutputs: { cell_id: code } })
      await both()
      await a.command({ RecordExecution: { cell_id: code, outputs: [stream('from a file')], execution_count: 3 } })
      await both()
    } finally {
      G.close()
      const gone = await rest('DELETE', `/api/agents/${agent.id}`)
      assert.ok(gone.ok, `${gone.status}`)
    }
  })
  if (kernel)
    await test('runs a code cell and sees its output', async () => {
      await a.replace(code, 'print("hello", 6 * 7)\n1 + 1')
      const r = await a.run(code)
      assert.equal(r.type, 'ExecutionCompleted')
      assert.equal(r.ok, true)
      const text = r.outputs
        .map(o => o.content.text)
        .flat()
        .filter(Boolean)
        .join('')
      assert.match(text, /hello 42/)
      assert.ok(r.outputs.some(o => o.content.output_type === 'execute_result'))
      assert.equal(a.state.latest[code], r.id)
      assert.equal(a.state.executions[r.id].status, 'ok')
      assert.ok(a.state.executions[r.id].outputs.length)
      await both()
      await a.replace(code, 'print("x" * 20000)\nraise ValueError("oh")')
      const e = await a.run(code)
      assert.equal(e.ok, false)
      assert.ok(e.outputs.some(o => o.content.output_type === 'error'))
      await both()
      const o = e.outputs.find(o => o.blobs),
        bytes = await (
          await fetch(`${url}/api/notebooks/${id}/blobs/${o.blobs[0].sha256}`, { headers: { authorization: `Bearer ${token}` } })
        ).text()
      assert.equal(o.blobs[0].json ? bytes : bytes.trim(), 'x'.repeat(20000))
      const scratch = await a.run({ scratch: { source: 'print("scratch")', purpose: 'to see' } })
      assert.equal(scratch.ok, true)
      await both()
      assert.ok(!a.state.executions[scratch.id])
      await a.replace(
        code,
        'from IPython.display import display, clear_output\nh = display("first", display_id="d")\nh.update("second")\n' +
          'print("gone")\nclear_output(wait=True)\nprint("stays")'
      )
      await a.run(code)
      await both()
      await a.command({ DeleteCell: { cell_id: code } })
      await both()
      await a.command({ RestoreCell: { cell_id: code } })
      await both()
      assert.ok(a.state.latest[code])
      await a.command({ ClearOutputs: { cell_id: code } })
      assert.ok(!a.state.latest[code])
      await both()
      await a.replace(code, 'input("name? ")')
      const asks = a.run(code)
      const x = await a.until(() => Object.entries(a.state.executions).find(([, x]) => x.pending_input), 20000, 'the question')
      await both()
      await a.command({ AnswerInput: { execution_id: x[0], value: 'Ada' } })
      assert.equal((await asks).ok, true)
      await both()
      await a.replace(code, 'while True: pass')
      const endless = a.run(code)
      const y = await a.until(() => Object.entries(a.state.executions).find(([, x]) => x.status === 'running'), 20000, 'running')
      await a.command({ CancelExecution: { execution_id: y[0] } })
      console.log('      cancelled:', (await endless).type)
      await both()
      const session = Object.keys(a.state.kernels)[0]
      await a.command({ RestartKernel: { kernel_session: session } })
      await both()
      await a.until(
        () => Object.values(a.state.kernels).some(k => k.phase === 'started') && !a.state.kernels[session],
        30000,
        'the restart'
      )
      await both()
      const next = Object.keys(a.state.kernels)[0]
      await a.command({ ShutDownKernel: { kernel_session: next } })
      await a.until(() => !a.state.kernels[next], 30000, 'the end of the kernel')
      await both()
    })
  else
    await test('without a kernel: a run waits, is cancelled', async () => {
      await a.replace(code, '1+1')
      const run = a.run(code, {}, 20000)
      run.catch(() => {})
      const x = await a.until(
        () => {
          const x = a.state.latest[code]
          return a.state.executions[x]?.cause === 'requested' && x
        },
        5000,
        'the request'
      )
      await both()
      if (a.state.executions[x].status === 'queued') {
        await a.command({ CancelExecution: { execution_id: x } })
        assert.equal((await run).type, 'ExecutionCancelled')
      } else await run
      await both()
      await a.command({ DeleteCell: { cell_id: code } })
      await both()
      await a.command({ RestoreCell: { cell_id: code } })
      await both()
      await a.command({ ClearOutputs: { cell_id: code } })
      await both()
    })
  await test('at the end: two followers and a fresh snapshot agree; every message fitted the schemas', async () => {
    await both()
    gapless(a)
    gapless(b)
    assert.deepEqual([...new Set(wrong)].slice(0, 10), [])
  })
  for (const c of clients) c.close()
}

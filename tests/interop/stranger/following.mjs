// Undo, lost connections, newer servers, presence, bad messages.
import { randomUUID } from 'node:crypto'
import assert from 'node:assert/strict'
import { limit, rejects, test } from './harness.mjs'

export async function following(scene) {
  const { A, a, b, both, client, code, gapless, id, one, two } = scene
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
    A.cut() // the commands may or may not have arrived
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
  await test('an edit whose base the server no longer has is mapped and sent again under a new id', async () => {
    const base = a.state.version
    for (let i = 0; i < 500; i++) await b.splice(one, 0, i % 2, i % 2 ? '' : '+')
    await a.until(() => a.state.version >= b.state.version, 15000)
    const ids = []
    A.command = (notebook, body, options) => {
      if (ids.push(options.id) === 1) body = { EditSource: { ...body.EditSource, base } }
      return Object.getPrototypeOf(A).command.call(A, notebook, body, options)
    }
    const typed = [a.splice(one, 0, 0, '<late>'), a.splice(one, 0, 0, '<later>')]
    await b.splice(one, 0, 0, '<b>')
    await limit(Promise.all(typed), 15000, 'the second command')
    delete A.command
    assert.ok(ids.length > 1 && new Set(ids).size === ids.length, `${ids}`)
    for (const word of ['<late>', '<later>']) assert.equal(a.text(one).split(word).length, 2, `${word} in ${a.text(one)}`)
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
}

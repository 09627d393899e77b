// Cells, texts and names: sections 1 to 4.
import { randomUUID } from 'node:crypto'
import assert from 'node:assert/strict'
import { Client } from './client.mjs'
import { limit, rejects, test } from './harness.mjs'

export async function editing(scene) {
  const { both, client, id, token, url, wrong } = scene
  let A, B, a, b, one, two, code
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
    Object.assign(scene, { a, b })
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
    await a.command({ EditSource: { cell_id: one, base, change: [[2, 'all']] } }) // keeps insertions after its base
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
  Object.assign(scene, { A, B, one, two, code })
}

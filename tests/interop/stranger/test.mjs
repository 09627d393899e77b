// NOTARIUM_URL=http://127.0.0.1:PORT NOTARIUM_TOKEN=nt_… [NOTARIUM_KERNEL=1] node test.mjs
import assert from 'node:assert/strict'
import { canonical, digest } from './digest.mjs'
import { applyEvent, fresh } from './state.mjs'
import { apply, compose, map } from './text.mjs'
import { complaints } from './schema.mjs'
import { editing } from './editing.mjs'
import { following } from './following.mjs'
import { json, list, read, schemas, tally, test } from './harness.mjs'
import { running } from './running.mjs'
import { open } from './scene.mjs'

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
const { NOTARIUM_URL: url, NOTARIUM_TOKEN: token } = process.env
if (url)
  await withServer().catch(e => {
    tally.failed++
    console.log('FAIL ', e.stack)
  })
else console.log('no NOTARIUM_URL: the rest needs a server')
console.log(`${tally.passed} passed, ${tally.failed} failed`)
process.exit(tally.failed ? 1 : 0)

async function withServer() {
  const scene = open(url, token)
  await editing(scene)
  await following(scene)
  await running(scene)
  await test('at the end: two followers and a fresh snapshot agree; every message fitted the schemas', async () => {
    await scene.both()
    scene.gapless(scene.a)
    scene.gapless(scene.b)
    assert.deepEqual([...new Set(scene.wrong)].slice(0, 10), [])
  })
  for (const c of scene.clients) c.close()
}

// Two followers of one notebook; every message is validated against the schemas.
import { randomUUID } from 'node:crypto'
import assert from 'node:assert/strict'
import { Client } from './client.mjs'
import { complaints } from './schema.mjs'
import { limit, schemas } from './harness.mjs'

export function open(url, token) {
  const scene = { url, token, id: randomUUID() }
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
  const { id } = scene
  const both = async () => {
    const { a, b } = scene
    // B, A and a fresh snapshot have the same version and state
    const version = Math.max(a.state.version, b.state.version)
    await Promise.all([a, b].map(n => n.until(() => n.state.version >= version, 5000, `version ${version}`)))
    assert.deepEqual(b.state, a.state)
    const C = await client(),
      c = await limit(C.follow(id), 5000, 'a snapshot')
    assert.deepEqual(a.state, c.state)
    C.close()
  }
  const gapless = n => n.seen.forEach((e, i) => assert.equal(e.version, n.seen[0].version + i))
  return Object.assign(scene, { client, both, gapless, wrong, clients })
}

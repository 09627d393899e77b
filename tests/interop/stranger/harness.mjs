// Helpers of the tests: counting, waiting, the protocol's files.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import assert from 'node:assert/strict'

const protocol = new URL('../../../protocol/', import.meta.url)
export const read = path => readFileSync(new URL(path, protocol), 'utf8')
export const json = path => JSON.parse(read(path))
export const list = path => (existsSync(new URL(path, protocol)) ? readdirSync(new URL(path, protocol)).map(f => path + f) : [])
export const schemas = Object.fromEntries(
  ['client-message', 'server-message', 'event-payloads', 'command', 'notebook'].map(n => [n, json(`schema/${n}.json`)])
)

export const tally = { passed: 0, failed: 0 }
export async function test(name, body) {
  const started = Date.now()
  try {
    await body()
    tally.passed++
    console.log(`ok    ${name} (${Date.now() - started} ms)`)
  } catch (e) {
    tally.failed++
    console.log(`FAIL  ${name}\n${e.stack}`)
  }
}
export async function rejects(promise, code) {
  const e = await promise.then(
    () => assert.fail(`expected ${code}`),
    e => e
  )
  assert.equal(e.code, code, e.stack)
  return e
}
export const limit = (promise, ms, what) => {
  let t
  return Promise.race([
    promise,
    new Promise((_, no) => {
      t = setTimeout(() => no(new Error(`waited ${10 * ms} ms for ${what}`)), 10 * ms)
    })
  ]).finally(() => clearTimeout(t))
}

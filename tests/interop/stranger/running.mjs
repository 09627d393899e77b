// Agents and runs: sections 5 and 6.
import assert from 'node:assert/strict'
import { json, limit, rejects, test } from './harness.mjs'

export async function running(scene) {
  const { a, both, client, code, id, token, url } = scene
  const { NOTARIUM_KERNEL: kernel } = process.env
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
      assert.equal(again.version, a.state.version) // the log already has this number
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
}

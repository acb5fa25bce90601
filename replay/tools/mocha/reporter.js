
// Mocha's reporter. All tests are named at the start, so that those which a failing hook keeps from running have an outcome.
const tests = new Map() // test -> has an end
let last = null

const fileOf = t => {
  for (let s = t; s; s = s.parent) if (s.file) return s.file
  return ''
}
const pathOf = t => {
  const path = []
  for (let s = t; s; s = s.parent) if (s.title) path.unshift(s.title)
  return path
}

function each(suite, f) {
  for (const t of suite.tests || []) f(t)
  for (const s of suite.suites || []) each(s, f)
}

function close(t, o, err, late) {
  if (!late) tests.set(t, true)
  end(fileOf(t), pathOf(t), o, err, late)
}

// hook gives the failure of a hook to the tests that it keeps from running, or else to the last that ran.
function hook(h, err) {
  const w = why(err)
  const text = h.title + ': ' + w.m
  const failed = { name: 'Hook', message: text, expected: 1, actual: 1, code: w.k === 'assertion' ? undefined : 'HOOK' }
  const before = /^"before/.test(h.title)
  let n = 0
  if (before && h.parent) each(h.parent, t => {
    if (!tests.get(t) && !t.pending) {
      n++
      close(t, 'fail', failed)
    }
  })
  if (n > 0) return
  const current = h.ctx && h.ctx.currentTest
  const t = current && tests.get(current) ? current : last
  if (t) close(t, 'fail', failed, true)
  else broken(fileOf(h), text)
}

module.exports = function Reporter(runner) {
  runner.on('start', () => {
    emit({ e: 'begin' })
    each(runner.suite, t => tests.set(t, false))
    if (runner.suite.bail) {
      runner.suite.bail(false)
      const all = s => { s.bail(false); (s.suites || []).forEach(all) }
      all(runner.suite)
    }
  })
  runner.on('test', t => {
    last = t
    emit({ e: 'start', file: inside(fileOf(t)), path: pathOf(t) })
  })
  runner.on('pass', t => {
    const again = typeof t.currentRetry === 'function' ? t.currentRetry() : t._currentRetry
    if (again > 0) close(t, 'missing', 'failed, and passed when it was run again')
    else close(t, 'pass')
  })
  runner.on('pending', t => close(t, 'skip'))
  runner.on('fail', (t, err) => {
    if (t.type === 'hook') hook(t, err)
    else if (err && (err.code === 'ERR_MOCHA_TIMEOUT' || /^Timeout of \d+ms exceeded/.test(err.message))) close(t, 'timeout', err, tests.get(t))
    else close(t, 'fail', err === undefined ? null : err, tests.get(t))
    process.stderr.write('not ok: ' + pathOf(t).join(' > ') + '\n' + ((err && err.stack) || err) + '\n')
  })
  runner.on('end', () => {
    done()
    setTimeout(() => process.exit(Math.min(bad, 255)), 2000).unref()
  })
}

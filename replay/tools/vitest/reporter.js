
// Vitest's reporter, for the reporters' interfaces of before and after its third version: both know the tasks of a file.
function cause(result) {
  const e = (result && ((result.errors && result.errors[0]) || result.error)) || null
  return e
}

function timedOut(err) {
  return err && /^(?:Test|Hook) timed out in \d+ms/.test(String(err.message || ''))
}

function task(file, t, path, failed) {
  const own = path.concat(t.name)
  if (t.type === 'suite' || Array.isArray(t.tasks)) {
    below(file, t, own, failed)
    return
  }
  const r = t.result || {}
  const err = cause(r)
  if (r.state === 'pass' && r.retryCount > 0) end(file, own, 'missing', 'failed, and passed when it was run again')
  else if (r.state === 'pass') end(file, own, 'pass')
  else if (r.state === 'fail') end(file, own, timedOut(err) ? 'timeout' : 'fail', err)
  else if (failed) end(file, own, 'fail', failed)
  else if (t.mode === 'skip' || t.mode === 'todo' || r.state === 'skip') end(file, own, 'skip')
  else end(file, own, 'missing', 'it has no result')
}

// below reports what is in a suite. An error of the suite's own is that of a hook: of one before the tests if none of them ran,
// else of one after, and the last test's.
function below(file, suite, path, failed) {
  const own = suite.result && suite.result.state === 'fail' ? cause(suite.result) : null
  const all = leaves(suite, path)
  const ran = all.filter(l => l.state === 'pass' || l.state === 'fail')
  for (const c of suite.tasks || []) task(file, c, path, own && ran.length === 0 ? own : failed)
  if (own && ran.length > 0) end(file, ran[ran.length - 1].path, 'fail', own, true)
}

function leaves(suite, path) {
  return (suite.tasks || []).flatMap(c => {
    const p = path.concat(c.name)
    return Array.isArray(c.tasks) ? leaves(c, p) : [{ path: p, state: c.result && c.result.state }]
  })
}

function report(files, errors) {
  emit({ e: 'begin' })
  const list = Array.from(files || []).sort((a, b) => order(a) < order(b) ? -1 : 1)
  for (const f of list) {
    const err = cause(f.result)
    if (err && leaves(f, []).length === 0) {
      broken(f.filepath, String(err.stack || '').includes(String(err.message)) ? err.stack : why(err).m + '\n' + (err.stack || ''))
    } else below(f.filepath, f, [], null)
  }
  for (const e of errors || []) broken(e && e.VITEST_TEST_PATH || '', 'an error outside of the tests: ' + why(e).m + '\n' + ((e && e.stack) || ''))
  done()
}

const order = f => (f.filepath || '') + '\u0000' + (f.projectName || '')

module.exports = class Reporter {
  onInit(v) { // the project's wish to stop at a failure would leave tests out
    for (const c of [v, ...(v && v.projects || [])]) if (c && c.config) c.config.bail = 0
  }

  onFinished(files, errors) { // before version 4
    if (!this.told) report(files, errors)
    this.told = true
  }

  onTestRunEnd(modules, errors) { // since version 3
    if (!this.told) report(Array.from(modules).map(m => m.task), errors)
    this.told = true
  }
}
module.exports.default = module.exports

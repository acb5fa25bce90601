
// Jest's reporter. What a test printed is not in it.
const OUTCOME = { passed: 'pass', failed: 'fail', pending: 'skip', skipped: 'skip', todo: 'skip', disabled: 'skip' }

// cause finds what Jest keeps of an error; where it keeps only text, its first line tells what it was.
function cause(t) {
  const text = String((t.failureMessages || [])[0] || '')
  const detail = (t.failureDetails || [])[0]
  const plain = text.replace(/\u001b\[[0-9;]*m/g, '')
  const assertion = (detail && (detail.matcherResult || (detail.error && detail.error.matcherResult))) ||
    /^(?:Error: |JestAssertionError: )?(?:expect\(|assert(?:\.\w+)?\(|Snapshot|New snapshot)/.test(plain) || /^\w*Assertion\w*(?: \[\w+\])?:/.test(plain)
  const [name, ...rest] = plain.split(': ')
  const named = /^[\w$.]+(?: \[\w+\])?$/.test(name)
  return {
    name: assertion ? 'AssertionError' : named ? name : 'Error',
    message: named ? rest.join(': ') : plain
  }
}

module.exports = class Reporter {
  onRunStart() {
    emit({ e: 'begin' })
  }

  onTestCaseStart(test, info) {
    emit({ e: 'start', file: inside(test.path), path: [...(info.ancestorTitles || []), info.title] })
  }

  onTestResult(test, result) {
    const file = (result && result.testFilePath) || test.path
    const tests = (result && result.testResults) || []
    if (result.testExecError && tests.length === 0) {
      const e = result.testExecError
      broken(file, result.failureMessage || e.stack || e.message || e)
      return
    }
    for (const t of tests) {
      const path = [...(t.ancestorTitles || []), t.title]
      if (t.status === 'focused') continue
      if (t.status === 'passed' && t.invocations > 1) end(file, path, 'missing', 'failed, and passed when it was run again')
      else if (t.status === 'failed') end(file, path, timedOut(t) ? 'timeout' : 'fail', cause(t))
      else end(file, path, OUTCOME[t.status] || 'missing')
    }
    const last = tests[tests.length - 1]
    // What fails after the tests, in a hook, is a failure of the last.
    if (result.testExecError && last) end(file, [...(last.ancestorTitles || []), last.title], 'fail', cause({ failureMessages: [result.testExecError.stack || result.testExecError.message] }), true)
  }

  onRunComplete() {
    done()
  }
}

function timedOut(t) {
  return /(?:Exceeded timeout of \d+|Timeout - Async callback was not invoked within)/.test(String((t.failureMessages || [])[0] || ''))
}


// The reporter for node's own test tool. Its events come file by file, a parent's start before its children's and its end behind theirs.
const NOT_RUN = new Set(['cancelledByParent'])

function reason(error) {
  if (!error || typeof error !== 'object') return error
  return error.cause !== undefined && error.cause !== null ? error.cause : error
}

module.exports = async function * reporter(source) {
  emit({ e: 'begin' })
  const stack = [] // titles by depth
  const named = new Map() // file -> ends of tests in it
  const printed = new Map() // file -> the end of what it printed as errors
  const state = { last: null }
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      stack.length = data.nesting
      stack[data.nesting] = data.name
      continue
    }
    if (type === 'test:stderr') {
      const f = inside(data.file)
      printed.set(f, ((printed.get(f) || '') + data.message).slice(-LONG))
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue
    stack.length = data.nesting
    const path = [...stack.map(s => s === undefined ? '' : s), data.name]
    const file = data.file || ''
    const details = data.details || {}
    const kind = details.error && details.error.failureType
    if (data.nesting === 0 && isFile(data)) whole(data, path, named, printed)
    else if (details.type === 'suite') suite(data, path, kind, state)
    else test(data, path, kind, state)
    if (!(data.nesting === 0 && isFile(data))) named.set(inside(file), (named.get(inside(file)) || 0) + 1)
  }
  done()
}

// isFile knows what stands for a whole file: it bears the file's name.
function isFile(data) {
  return typeof data.name === 'string' && /\.[cm]?[jt]sx?$/.test(data.name) && (isAbsolute(data.name) || !data.file || inside(data.file) === data.name || data.file.endsWith('/' + data.name))
}

// whole reports a file: one that fails and has no test could not be loaded; one that passes and has none is a test itself.
function whole(data, path, named, printed) {
  const file = inside(isAbsolute(data.name) ? data.name : data.file || data.name)
  const error = data.details && data.details.error
  if (error && !named.get(file)) broken(file, (printed.get(file) || '') + why(reason(error)).m)
  else if (error && error.failureType !== 'subtestsFailed') end(file, ['(file)'], 'fail', reason(error))
  else if (!error && !named.get(file)) end(file, ['(file)'], data.skip !== undefined ? 'skip' : 'pass')
}

// suite reports what fails on its own account, which is a hook, as a failure of the last test in it.
function suite(data, path, kind, state) {
  const error = data.details.error
  if (!error || kind === 'subtestsFailed' || NOT_RUN.has(kind)) return
  const last = state.last
  if (last && path.every((p, i) => last.path[i] === p)) end(last.file, last.path, 'fail', reason(error), true)
  else broken(data.file, path.join(' > ') + ': ' + why(reason(error)).m)
}

function test(data, path, kind, state) {
  state.last = { file: data.file, path }
  const error = data.details && data.details.error
  if (data.skip !== undefined && data.skip !== false) end(data.file, path, 'skip')
  else if (data.todo !== undefined && data.todo !== false) end(data.file, path, 'skip')
  else if (!error) end(data.file, path, 'pass')
  else if (kind === 'testTimeoutFailure') end(data.file, path, 'timeout', error)
  else if (NOT_RUN.has(kind)) end(data.file, path, 'fail', { name: 'Cancelled', message: String(error.message), code: 'CANCELLED' })
  else end(data.file, path, 'fail', reason(error))
}

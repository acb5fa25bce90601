// Gives a state its node_modules: folders of links to what the environment holds. Arguments: the installed workspace, the state's.
// Links among packages of the workspace are made anew, so that they lead to the state's own files. What the state itself has stays.
const fs = require('fs')
const path = require('path')
const [env, tree] = process.argv.slice(1)
const root = fs.realpathSync(env)

function isLink(p) {
  try {
    return fs.lstatSync(p).isSymbolicLink()
  } catch (e) {
    return false
  }
}

function link(to, at) {
  try {
    fs.symlinkSync(to, at)
  } catch (e) {
    if (e.code !== 'EEXIST') throw e
  }
}

// target tells where a package's link leads: into the state if the package is one of the workspace, else into the environment.
function target(p) {
  if (!isLink(p)) return p
  let real
  try {
    real = fs.realpathSync(p)
  } catch (e) {
    const to = path.resolve(path.dirname(p), fs.readlinkSync(p))
    return to.startsWith(env + path.sep) ? path.join(tree, path.relative(env, to)) : null
  }
  const rel = path.relative(root, real)
  return rel.split(path.sep).includes('node_modules') || rel.startsWith('..') ? real : path.join(tree, rel)
}

function farm(from, to) {
  fs.mkdirSync(to, { recursive: true })
  for (const name of fs.readdirSync(from)) {
    if (['.cache', '.vite', '.vitest', '.modules.yaml', '.package-lock.json', '.yarn-integrity', '.yarn-state.yml'].includes(name)) continue
    const p = path.join(from, name)
    if (name[0] === '@' && !isLink(p)) {
      farm(p, path.join(to, name))
      continue
    }
    const t = target(p)
    if (t !== null) link(t, path.join(to, name))
  }
}

// borrow completes the environment's copy of a workspace's package with links to the state's files: other packages there may need it.
function borrow(from, to) {
  if (!fs.existsSync(to)) return
  for (const name of fs.readdirSync(to)) {
    if (name !== 'node_modules') try { fs.symlinkSync(path.join(to, name), path.join(from, name)) } catch (e) {}
  }
}

function walk(from, to) {
  const entries = fs.readdirSync(from, { withFileTypes: true })
  if (entries.some(e => e.name === 'node_modules' && e.isDirectory()) && fs.existsSync(to)) farm(path.join(from, 'node_modules'), path.join(to, 'node_modules'))
  for (const e of entries) if (e.isDirectory() && e.name !== 'node_modules' && e.name[0] !== '.') walk(path.join(from, e.name), path.join(to, e.name))
  if (from !== env && entries.some(e => e.name === 'package.json')) borrow(from, to)
}

walk(env, tree)

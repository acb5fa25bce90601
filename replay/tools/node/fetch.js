// Installs the package that holds node for the machine's processor, and gives it a place. Arguments: folder, version of node, version of
// node-gyp, names of programs. Its node-gyp comes with it: Debian's links what it builds with Debian's node.
// The programs of these names, which an old node cannot run, are run by the node that runs this, wherever they are.
const fs = require('fs')
const path = require('path')
const { spawnSync } = require('child_process')
const [dir, version, gyp, ...programs] = process.argv.slice(1)

const name = 'node-linux-' + process.arch
const args = ['install', '--prefix', dir, '--no-save', '--no-package-lock', '--ignore-scripts', name + '@' + version, 'node-gyp@' + gyp]
const r = spawnSync('npm', args, { stdio: 'inherit' })
if (r.status !== 0) process.exit(r.status || 1)

const bin = path.join(dir, 'bin')
fs.mkdirSync(bin)
fs.symlinkSync(path.join('../node_modules', name, 'bin/node'), path.join(bin, 'node'))
const quote = s => "'" + s.replace(/'/g, "'\\''") + "'"
const text = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
run=$(PATH=$(printf %s ":$PATH:" | sed "s|:$here:|:|g"); command -v "\${0##*/}") || exit 127
exec ${quote(process.execPath)} "$run" "$@"
`
for (const p of programs) fs.writeFileSync(path.join(bin, p), text, { mode: 0o755 })

// Runs the contestants in turn, each step in a process of its own, each measurement in a new database. Started by
// scripts/compare, which explains the options.
const { spawnSync, execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { parseArgs } = require('util');
const { connect } = require('./postgres');
const rows = require('./rows');
const report = require('./report');

const ORDER = ['boxcar', 'plain', 'pgq', 'graphile', 'pgboss', 'boxcar_sqlite', 'plainjob'];

const { values: given } = parseArgs({ options: {
  only: { type: 'string' }, contestants: { type: 'string' }, rounds: { type: 'string', default: '5' },
  scale: { type: 'string', default: '1' }, output: { type: 'string', short: 'o', default: 'table' },
  list: { type: 'boolean' }, save: { type: 'string' } } });
const scale = Number(given.scale), rounds = Number(given.rounds);

const say = (text) => process.stderr.write(`compare: ${text}\n`);
const die = (text) => { say(text); process.exit(2); };

function choose(list, known, what) {
  const chosen = list ? list.split(',') : known;
  const odd = chosen.find((name) => !known.includes(name));
  if (odd) die(`${what} '${odd}' does not exist: ${known.join(', ')}`);
  return chosen;
}

function step(kind, task) {
  const child = spawnSync(process.execPath, [path.join(__dirname, 'child.js'), kind],
    { input: JSON.stringify(task), encoding: 'utf8', stdio: ['pipe', 'pipe', 'inherit'], maxBuffer: 1 << 26 });
  if (child.status !== 0) throw new Error(`${task.contestant}, ${task.name}: ${kind} failed`);
  return JSON.parse(child.stdout);
}

// CPU seconds of all sessions that have ended; null where the system does not tell.
function serverCpu(dataDirectory) {
  try {
    const pid = fs.readFileSync(path.join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n')[0];
    const fields = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch { return null; }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

class Server {
  async open() {
    this.admin = await connect(process.env.BOXCAR_TEST_POSTGRES);
    const { rows: [row] } = await this.admin.query(`select current_setting('data_directory') as directory,
      current_setting('server_version') as version`);
    Object.assign(this, row);
  }
  async create() {
    await this.drop();
    await this.admin.query('create database compare');
    return process.env.BOXCAR_TEST_POSTGRES.replace(/\/[^/]*$/, '/compare');
  }
  async drop() { await this.admin.query('drop database if exists compare with (force)'); }
  async close() { await this.drop(); await this.admin.end(); }
}

async function measurePostgres(server, task) {
  const url = await server.create();
  step('install', { ...task, url });
  step('prepare', { ...task, url });
  const client = await connect(url);
  await client.query('analyze; checkpoint');
  await client.end();
  await pause(100); // the sessions have ended
  const before = serverCpu(server.directory);
  const figures = step('measure', { ...task, url });
  await pause(100);
  const after = serverCpu(server.directory);
  return { ...figures, serverCpu: before === null ? null : after - before };
}

function measureSqlite(task) {
  const folder = fs.mkdtempSync(path.join(process.env.TMPDIR ?? '/var/tmp', 'boxcar-compare.'));
  try {
    const url = path.join(folder, 'queue.db');
    step('install', { ...task, url });
    if (!require(`./contestants/${task.contestant}`).measure) step('prepare', { ...task, url });
    return step('measure', { ...task, url });
  } finally { fs.rmSync(folder, { recursive: true, force: true }); }
}

function fits(contestant, store, name, row) {
  const module = require(`./contestants/${contestant}`);
  if ((module.store ?? 'postgres') !== store) return false;
  if (module.rows) return module.rows.includes(name);
  return row.needs in module && (row.fits?.(module) ?? true);
}

async function runRow(server, store, name, contestants, figures) {
  const row = rows[store][name];
  const able = contestants.filter((contestant) => fits(contestant, store, name, row));
  for (let round = 0; round < rounds; round++) {
    const order = able.map((_, i) => able[(i + round) % able.length]);
    for (const contestant of order) {
      say(`${store} ${name}: round ${round + 1} of ${rounds}, ${contestant}`);
      const task = { contestant, name, scale };
      const result = store === 'postgres' ? await measurePostgres(server, task) : measureSqlite(task);
      figures.push({ store, row: name, contestant, round, ...result });
    }
  }
}

const commit = () => {
  const git = (...words) => execFileSync('git', words, { cwd: __dirname, encoding: 'utf8' }).trim();
  try { return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '-uno') ? ' and changes' : ''); }
  catch { return 'unknown'; }
};

async function main() {
  const names = [...new Set([...Object.keys(rows.postgres), ...Object.keys(rows.sqlite)])];
  if (given.list) { console.log(names.join('\n')); return; }
  if (!(scale > 0) || !(rounds >= 1)) die('--scale must be above 0 and --rounds at least 1');
  if (!['table', 'json'].includes(given.output)) die('--output must be table or json');
  const wanted = choose(given.only, names, 'row'), contestants = choose(given.contestants, ORDER, 'contestant');
  const server = new Server(), figures = [];
  await server.open();
  try {
    for (const store of ['postgres', 'sqlite'])
      for (const name of Object.keys(rows[store]))
        if (wanted.includes(name)) await runRow(server, store, name, contestants, figures);
    const url = await server.create();
    const versions = Object.fromEntries(contestants.map((contestant) =>
      [contestant, step('version', { contestant, url, name: '' })]));
    const result = report.summarize({ figures, versions, scale, rounds, commit: commit(), postgres: server.version,
      node: process.version, date: new Date().toISOString().slice(0, 10),
      machine: `${os.cpus().length} x ${os.cpus()[0].model}, ${Math.round(os.totalmem() / 2 ** 30)} GiB`, load: os.loadavg()[0] });
    if (given.save) fs.writeFileSync(given.save, JSON.stringify(result, null, 1) + '\n');
    console.log(given.output === 'json' ? JSON.stringify(result, null, 1) : report.table(result));
  } finally { await server.close(); }
}

main().catch((error) => { say(error.stack); process.exit(1); });

// child.js STEP: one step of one contestant in a process of its own. What to do comes as JSON on standard input, the
// figures go to standard output as JSON.
const { connect } = require('./postgres');
const rows = require('./rows');

async function walBytes(url, store) {
  if (store === 'sqlite') return null;
  const client = await connect(url);
  const { rows: [{ bytes }] } = await client.query(`select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`);
  await client.end();
  return bytes;
}

async function measure(contestant, row, { url, scale, name }) {
  const before = await walBytes(url, contestant.store);
  const result = contestant.measure ? await contestant.measure(url, name, scale) : await row.measure(contestant, url, scale);
  if (contestant.measure) return result; // another program did the work
  const cpu = process.cpuUsage();
  return {
    rate: result.messages / result.seconds, ...result,
    wal: before === null ? null : (await walBytes(url, contestant.store)) - before,
    clientCpu: (cpu.user + cpu.system) / 1e6, clientMemory: process.resourceUsage().maxRSS * 1024,
  };
}

async function main() {
  const given = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  const contestant = require(`./contestants/${given.contestant}`);
  const row = rows[contestant.store ?? 'postgres'][given.name];
  const steps = {
    install: () => contestant.install(given.url), version: () => contestant.version(given.url),
    prepare: () => row.prepare?.(contestant, given.url, given.scale), measure: () => measure(contestant, row, given),
  };
  const answer = await steps[process.argv[2]]();
  process.stdout.write(JSON.stringify(answer ?? null), () => process.exit(0));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});

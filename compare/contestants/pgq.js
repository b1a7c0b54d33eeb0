// PgQ: events are read in batches between two ticks, by one consumer, in order; a batch is finished as a whole.
const { senders, connect } = require('../postgres');
const { text, TOPIC } = require('../payload');

const TICK_MS = 1000; // the ticker's period unless configured otherwise

exports.title = 'PgQ';
exports.version = async (url) => {
  const client = await connect(url);
  const { rows } = await client.query(`select default_version as v from pg_available_extensions where name = 'pgq'`);
  await client.end();
  return rows[0].v;
};

exports.install = async (url) => {
  const client = await connect(url);
  await client.query(`create extension pgq; select pgq.create_queue('queue'); select pgq.register_consumer('queue', 'me')`);
  await client.end();
};

exports.producer = async (url) => {
  const client = await connect(url);
  return {
    send: (payload = text) => client.query({ name: 'send', text: `select pgq.insert_event('queue', $1, $2)`,
      values: [TOPIC, payload] }),
    sendMany: (count) => client.query({ name: 'many',
      text: `select pgq.insert_event('queue', $1, p) from unnest($2::text[]) p`, values: [TOPIC, Array(count).fill(text)] }),
    // a batch is what came between two ticks
    mark: () => client.query(`select pgq.force_tick('queue'), pgq.ticker('queue')`),
    close: () => client.end(),
  };
};

async function readBatch(client, onEvent) {
  const { rows: [{ id }] } = await client.query({ name: 'next', text: `select pgq.next_batch('queue', 'me') as id` });
  if (id === null) return null;
  const { rows } = await client.query({ name: 'get', text: `select ev_id, ev_type, ev_data,
    extract(epoch from ev_time)::float8 * 1000 as created from pgq.get_batch_events($1)`, values: [id] });
  if (onEvent) rows.forEach((row) => onEvent(row.created));
  await client.query({ name: 'finish', text: 'select pgq.finish_batch($1)', values: [id] });
  return rows.length;
}

exports.drain = async (url, { messages }) => {
  const client = await connect(url);
  let done = 0;
  const started = process.hrtime.bigint();
  while (done < messages) done += (await readBatch(client)) ?? 0;
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  await client.end();
  return seconds;
};
exports.oneConsumer = true;

exports.latency = async (url, { steady, onMessage, expected }) => {
  const sender = senders(url), consumer = await connect(url), ticker = await connect(url);
  let seen = 0;
  const ticks = setInterval(() => ticker.query('select pgq.ticker()'), TICK_MS);
  const reading = (async () => {
    while (seen < expected) {
      const count = await readBatch(consumer, (created) => { seen++; onMessage(created); });
      if (count === null) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  await steady((payload) => sender.query({ name: 'send', text: `select pgq.insert_event('queue', $1, $2)`,
    values: [TOPIC, JSON.stringify(payload)] }));
  await reading;
  clearInterval(ticks);
  for (const client of [sender, consumer, ticker]) await client.end();
};

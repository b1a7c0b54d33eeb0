// A table, claimed by UPDATE ... FOR UPDATE SKIP LOCKED and acked by DELETE: what people write first.
const { senders, connect, connectMany, endAll, drainLoop } = require('../postgres');
const { text, TOPIC } = require('../payload');

exports.title = 'plain table';
exports.version = async () => '';

exports.install = async (url) => {
  const client = await connect(url);
  await client.query(`create table queue (id bigint generated always as identity primary key, owner uuid,
      locked_until timestamptz, topic text not null, payload text not null,
      created_at timestamptz not null default now());
    create index on queue (id) where owner is null;
    create table fan (id int primary key, "left" int not null)`);
  await client.end();
};

exports.producer = async (url) => {
  const client = await connect(url);
  return {
    send: (payload = text) => client.query({ name: 'send', text: 'insert into queue (topic, payload) values ($1, $2)',
      values: [TOPIC, payload] }),
    sendMany: (count) => client.query({ name: 'many',
      text: 'insert into queue (topic, payload) select $1, unnest($2::text[])', values: [TOPIC, Array(count).fill(text)] }),
    close: () => client.end(),
  };
};

const claim = (client, batch) => client.query({ name: `claim${batch}`,
  text: `update queue set owner = gen_random_uuid(), locked_until = clock_timestamp() + interval '10 minutes' where id in
    (select id from queue where owner is null order by id limit ${batch} for update skip locked)
    returning id, topic, payload, extract(epoch from created_at)::float8 * 1000 as created` });
const ack = (client, rows) => client.query({ name: 'ack', text: 'delete from queue where id = any($1::bigint[])',
  values: [rows.map((row) => row.id)] });

exports.drain = async (url, { connections, batch, messages }) => {
  const clients = await connectMany(url, connections);
  const seconds = await drainLoop(clients, messages, async (client) => {
    const { rows } = await claim(client, batch);
    if (rows.length > 0) await ack(client, rows);
    return rows.length;
  });
  await endAll(clients);
  return seconds;
};

// The insert notifies, the consumer listens.
exports.latency = async (url, { steady, onMessage, expected }) => {
  const sender = senders(url), consumer = await connect(url);
  let busy = false, again = false, seen = 0, reached;
  const all = new Promise((resolve) => { reached = resolve; });
  const look = async () => {
    if (busy) { again = true; return; }
    busy = true;
    do {
      again = false;
      const { rows } = await claim(consumer, 100);
      for (const row of rows) onMessage(row.created);
      if (rows.length > 0) { await ack(consumer, rows); again = true; }
      if ((seen += rows.length) >= expected) { again = false; reached(); }
    } while (again);
    busy = false;
  };
  consumer.on('notification', look);
  await consumer.query('listen queue');
  await steady((payload) => sender.query({ name: 'send', text: `with row as (insert into queue (topic, payload)
    values ($1, $2) returning 1) select pg_notify('queue', '') from row`, values: [TOPIC, JSON.stringify(payload)] }));
  await all;
  await endAll([sender, consumer]);
};

// A counter row; the last step inserts the message that goes on.
exports.fanIn = async (url, { connections, batch, steps }) => {
  const clients = await connectMany(url, connections);
  await clients[0].query('insert into fan values (1, $1)', [steps]);
  const seconds = await drainLoop(clients, steps, async (client) => {
    const { rows } = await claim(client, batch);
    if (rows.length === 0) return 0;
    await client.query('begin');
    await ack(client, rows);
    const { rows: [fan] } = await client.query('update fan set "left" = "left" - $1 where id = 1 returning "left"',
      [rows.length]);
    if (fan.left === 0) await client.query(`insert into queue (topic, payload) values ('done', '')`);
    await client.query('commit');
    return rows.length;
  });
  await endAll(clients);
  return seconds;
};

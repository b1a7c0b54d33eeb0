// The 256 bytes that every message carries, as in boxcar-bench.
const body = {
  order: 4711, customer: '0189f7d2-9c1e-7d4e-a6f3-2b1f0c9d8e7a', currency: 'EUR', total: 12995,
  lines: [{ sku: 'A-100-17', n: 2, price: 4500 }, { sku: 'B-220-03', n: 1, price: 3995 }],
  note: 'leave the parcel with the neighbour, please', x: '...............',
};

exports.payload = body;
exports.text = JSON.stringify(body);
exports.TOPIC = 'bench.message';

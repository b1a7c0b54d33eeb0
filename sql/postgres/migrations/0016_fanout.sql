-- Fanout: policies that forward messages (docs/fanout.md), and schedules.

-- A policy is its subscriptions. destinations: where this one forwards to; null: it is no policy's. then_topic, else_topic: the copies
-- of a message are the steps of a join, and that is what is enqueued when it has ended.
alter table :"schema".reader
    add column destinations text[], add column then_topic text, add column else_topic text;

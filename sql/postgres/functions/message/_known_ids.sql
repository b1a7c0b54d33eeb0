-- The ids by which messages are to be stored: arrays that go together by position. A program of another version may
-- have enqueued a message of the same topic under the other id of its key: then that id is used. This costs a look
-- through the index for each key; messages without a key have no other id.
create or replace function :"schema"._known_ids(ids uuid[], others uuid[], topics text[]) returns uuid[]
language plpgsql stable :hot as $$
begin
    return array(
        select coalesce(m.message_id, i.id)
        from unnest(ids, others, topics) with ordinality i(id, other, topic, n)
        left join lateral (
            select m.message_id from :"schema".message m
            where m.message_id = i.other and m.topic = i.topic collate "C" limit 1) m on true
        order by i.n);
end $$;

-- Since when the head of a stream, parked or in the log, has waited without being leased.
create or replace function :"schema"._head_since(p_box smallint, p_key text) returns timestamptz
language plpgsql stable as $$
declare
    f constant :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null;
begin
    return coalesce((
        select p.available_at from :"schema".parked p
        where p.box = p_box and p.stream >= p_key and p.stream <= p_key order by p.stream, p.work_id limit 1), (
        select greatest(m.due_at, m.created_at)
        from (select s.key, s.position from :"schema".stream s where s.box = p_box and s.key = p_key limit 1) s
        cross join lateral (
            select m.due_at, m.created_at from :"schema".message m
            where m.box = f.log_box and m.lane = 1 and m.stream >= s.key and m.stream <= s.key and m.work_id > s.position
              and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                   m.topic, m.created_at, m.work_id)
              and (not skips or not :"schema"._is_left_out(p_box, m.work_id))
            order by m.stream, m.work_id limit 1) m));
end $$;

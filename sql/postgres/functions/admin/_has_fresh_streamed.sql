-- _has_fresh for the streamed lane: a message that can be claimed before `latest` and whose stream's head, of any
-- topic, is leased or comes in time. Claims come past the whole lane whatever topics they want, so there is little
-- ahead of them. If there is much, the heads are not known yet and the answer is yes.
create or replace function :"schema"._has_fresh_streamed(
    p_box smallint, exact text[], prefixes text[], ts timestamptz, latest timestamptz)
returns boolean language plpgsql stable :hot as $$
declare
    f :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
    beyond constant :"schema".frontier := :"schema"._next_window(f, pg_current_snapshot());
    most constant int := 5000;
    total bigint;
    found_one boolean;
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null;
begin
    with w as materialized (
        select x.* from :"schema"._window(f, most) x where x.reads union all select x.* from :"schema"._window(beyond, most) x where x.reads),
    live as (
        select w.topic, w.stream, w.due_at, first_value(w.work_id) over s as head_id, first_value(w.due_at) over s as head_due
        from w where coalesce(w.expires_at > ts, true)
          and not exists (select from :"schema".stream s where s.box = p_box and s.key = w.stream and s.position < w.work_id)
        window s as (partition by w.stream order by w.work_id))
    select (select count(*) from w),
           exists (select from live m left join lateral (
                       select p.work_id, p.epoch is not null or p.available_at <= latest as in_time from :"schema".parked p
                       where p.box = p_box and p.stream >= m.stream and p.stream <= m.stream
                         and (p.epoch is not null or coalesce(p.expires_at > ts, true))
                       order by p.stream, p.work_id limit 1) h on h.work_id < m.head_id
                   where not exists (select from :"schema".stream s
                                     where s.box = p_box and s.key = m.stream and s.halted_at is not null)
                     and :"schema"._wanted(m.topic, exact, prefixes) and coalesce(m.due_at <= latest, true)
                     and coalesce(h.in_time, m.head_due <= latest, true))
    into total, found_one;
    if found_one or total >= most then
        return true;
    end if;
    -- And the messages in the log behind the positions of streams that claimers know, whether a claimer came past them
    -- or not.
    return exists (
        select from :"schema".stream s
        cross join lateral (
            select m.due_at from :"schema".message m
            where m.box = f.log_box and m.lane = 1 and m.stream >= s.key and m.stream <= s.key and m.work_id > s.position
              and m.era = f.era and coalesce(m.expires_at > ts, true)
              and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                     m.topic, m.created_at, m.work_id)
              and (not skips or not :"schema"._is_left_out(p_box, m.work_id))
            order by m.stream, m.work_id limit 1) head
        where s.box = p_box and s.halted_at is null and coalesce(head.due_at <= latest, true)
          and coalesce((select p.epoch is not null or p.available_at <= latest from :"schema".parked p
                        where p.box = p_box and p.stream >= s.key and p.stream <= s.key
                          and (p.epoch is not null or coalesce(p.expires_at > ts, true))
                        order by p.stream, p.work_id limit 1), true)
          and exists (select from :"schema".message m
                      where m.box = f.log_box and m.lane = 1 and m.stream >= s.key and m.stream <= s.key and m.work_id > s.position
                        and m.era = f.era and coalesce(m.expires_at > ts, true) and coalesce(m.due_at <= latest, true)
                        and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                               m.topic, m.created_at, m.work_id)
                        and (not skips or not :"schema"._is_left_out(p_box, m.work_id))
                        and :"schema"._wanted(m.topic, exact, prefixes)));
end $$;

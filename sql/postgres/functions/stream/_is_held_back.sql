-- Whether its stream keeps a message that is not leased from being claimed: an earlier message is unfinished, or the
-- stream is halted.
create or replace function :"schema"._is_held_back(p_box smallint, p_stream text, p_work_id bigint) returns boolean
language plpgsql stable :hot as $$
declare
    f constant :"schema".frontier := :"schema"._frontier(p_box, 1::smallint);
    skips constant boolean := pg_sequence_last_value(':"schema".skip_flag') is not null;
begin
    return exists (select from :"schema".parked h where h.box = p_box and h.stream = p_stream collate "C" and h.work_id < p_work_id)
        or exists (select from :"schema".stream s
                   where s.box = p_box and s.key = p_stream collate "C"
                     and (s.halted_at is not null or :"schema"._is_stream_leased(s) or exists (
                          select from :"schema".message m
                          where m.box = f.log_box and m.lane = 1 and m.stream >= s.key and m.stream <= s.key
                            and m.work_id > s.position and m.work_id < p_work_id
                            and :"schema"._reads(f.choosy, f.in_exact, f.in_prefixes, f.but_exact, f.but_prefixes, f.from_time, f.from_id,
                                                 m.topic, m.created_at, m.work_id)
                            and (not skips or not :"schema"._is_left_out(p_box, m.work_id)))));
end $$;

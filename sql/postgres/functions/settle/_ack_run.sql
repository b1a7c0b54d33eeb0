-- Acks one run of ids under one epoch. The library sends most of its acks this way: it does the work of _ack for a
-- whole lease with nothing unusual, without arrays and with few settings. Null: all of the run is done. _ack gets what
-- is unusual, and this returns its answer: the ids that it affected.
create or replace function :"schema"._ack_run(p_box smallint, p_owner uuid, p_first bigint, p_last bigint, p_epoch bigint)
returns bigint[] language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
    ts constant timestamptz := clock_timestamp();
    is_usual boolean;
begin
    if (p_first > 0 and p_last >= p_first and p_last < 9223372036854775807 and p_last - p_first < :batch_size_max) is not true then
        perform :"schema"._invalid('work_ids', 'are no run of 1 to :batch_size_max ids');
    end if;
    -- No message is a member of a join. And the claim was a sign of life, less than half a second ago, or no instance
    -- has to give any.
    is_usual := (pg_sequence_last_value(':"schema".member_flag') is null or p_box > 1)
        and (date_part('epoch', ts) * 1000000 - p_epoch between -64 and 500000
             or pg_sequence_last_value(':"schema".instance_flag') is null);
    if is_usual is not true then
        is_usual := not exists (select from :"schema".join_member m
                                where m.work_id >= p_first and m.work_id <= p_last and not m.in_span and m.status = 0)
            and not exists (select from :"schema".join_span s
                            where s.first_id > p_first - 1000 and s.first_id <= p_last and s.last_id >= p_first)
            and (exists (select from :"schema".instance_sign s
                         where s.instance_id = p_owner and s.seen_at > ts - interval '500 milliseconds')
                 or not exists (select from :"schema".instance_row r where r.instance_id = p_owner));
    end if;
    if is_usual then
        delete from :"schema".lease l
        where l.box = p_box and l.epoch = p_epoch and l.owner is not distinct from p_owner and not l.has_parked
          and l.items = int8multirange(int8range(p_first, p_last + 1));
        if found then
            with counted as (
                insert into :"schema".tally_delta (first_id, last_id, box) values (p_first, p_last, p_box))
            insert into :"schema".finished (first_id, last_id, box, epoch, owner, at)
            values (p_first, p_last, p_box, p_epoch, p_owner, ts);
            return null;
        end if;
    end if;
    return :"schema"._ack(p_box, p_owner, array(select generate_series(p_first, p_last)), array[p_epoch]);
end $$;

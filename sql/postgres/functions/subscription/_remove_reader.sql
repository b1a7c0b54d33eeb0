-- Removes a subscription; see subscription_remove. The caller has locked the table of readers. If it took
-- topics away from the main reader, the caller sets the rule of that one at the end (_set_rule).
create or replace function :"schema"._remove_reader(r :"schema".reader, p_force boolean) returns void
language plpgsql volatile :pinned as $$
declare
    made text;
    ids bigint[];
    busy bigint[];
begin
    perform :"schema"._stop_claims(r.number, r.box);
    if p_force is not true and exists (select from :"schema".lease l where l.box = r.number and l.until > clock_timestamp()) then
        raise exception using errcode = 'BX003', message = format(
            'messages of subscription "%s" are leased: pause it and try again in a moment, or force it, which ends these leases', r.name);
    end if;
    -- The last chance: afterwards nobody knows that it was done. What another transaction has, it notes itself or leaves open.
    if r."only" and r.box = 0 then
        ids := array(
            select x.work_id from :"schema".schedule_shard x, :"schema"._finished(r.number, x.work_id) f
            where x.due_at is null and f.at > '-infinity');
        busy := :"schema"._busy_slices(ids);
        perform :"schema"._complete_slices(array(select i from unnest(ids) i where i <> all (busy)));
    end if;
    delete from :"schema".lease l where l.box = r.number;
    delete from :"schema".frontier f where f.box = r.number;
    delete from :"schema".reader_change c where c.number = r.number;
    delete from :"schema".instance_row i where i.box = r.number;
    update :"schema".reader x set name = null, "only" = false, removed_at = clock_timestamp() where x.number = r.number;
    foreach made in array '{turn,upkeep}'::text[] loop
        execute format('drop view :"schema".%I', made || '_' || r.number);
    end loop;
    foreach made in array '{claims,quiet}'::text[] loop
        execute format('drop sequence :"schema".%I', made || '_' || r.number);
    end loop;
end $$;

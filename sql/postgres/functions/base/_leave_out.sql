-- A reader takes these messages out of its log before its frontier comes to them. As long as there was no subscription, they leave the
-- log itself: the one update that a row of it ever sees. Otherwise another reader may want them, so claimers of this one pass over
-- them from now on. The lock keeps the first subscription from being made meanwhile, which would miss what left the log (_add_reader).
create or replace function :"schema"._leave_out(p_box smallint, ids bigint[]) returns void
language plpgsql volatile as $$
begin
    if pg_sequence_last_value(':"schema".reader_number') is null then
        lock table :"schema".reader in row share mode;
        if pg_sequence_last_value(':"schema".reader_number') is null then
            update :"schema".message m set lane = 2 where m.work_id = any (ids);
            return;
        end if;
    end if;
    if pg_sequence_last_value(':"schema".skip_flag') is null then   -- before any transaction can see one
        perform setval(':"schema".skip_flag', 1);
    end if;
    insert into :"schema".reader_skip (box, work_id) select p_box, i from unnest(ids) i on conflict do nothing;
end $$;

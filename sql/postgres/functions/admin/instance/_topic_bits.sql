-- The bits of sleeper_flag for topics: an exact one has one of 16 bits by its hash (bits 0 to 15), and a prefix one by
-- its first character (bits 16 to 31; all of them for the empty prefix). _enqueue_messages and enqueue compare them
-- with those of their topic.
create or replace function :"schema"._topic_bits(exact text[], prefixes text[]) returns bigint
language sql immutable :pinned as $$
    select coalesce((select bit_or(1::bigint << (hashtext(e) & 15)) from unnest(exact) e), 0)
         | coalesce((select bit_or(case when p = '' then 65535::bigint << 16 else 65536::bigint << (ascii(p) & 15) end)
                     from unnest(prefixes) p), 0)
$$;

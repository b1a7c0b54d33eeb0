-- Raises the error of a fault, if there is one: the name of an argument (place: prefix of it), and what is wrong with it.
create or replace function :"schema"._fault(place text, fault text[]) returns void
language plpgsql volatile strict :pinned as $$
begin
    perform :"schema"._invalid(place || fault[1], fault[2]);
end $$;

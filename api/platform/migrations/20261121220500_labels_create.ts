import type { Knex } from 'knex';

/**
 * Labels, what carries them, and who is named in their access. `items.labels` is the closed list (own and inherited numbers),
 * `profiles.hidden_labels` and `only_labels` are what each profile's rules come to; both follow their sources in the same
 * transaction. Numbers are never used twice, so that one left behind in an array means nothing.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table labels (
      number int generated always as identity primary key,
      id uuid not null unique,
      name text not null, name_folded text not null unique,
      color text not null, description text,
      restricted boolean not null default false,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now()
    );
    -- no reference to items: what is purged and comes back under its id within a year has its labels still
    create table item_labels (
      item_id uuid not null,
      label int not null references labels on delete cascade,
      primary key (item_id, label)
    );
    create index item_labels_label on item_labels (label, item_id);
    create table label_principals (
      label int not null references labels on delete cascade,
      part text not null check (part in ('allow', 'deny', 'only')),
      account_id uuid references accounts on delete cascade,
      profile_id uuid references profiles on delete cascade,
      role text,
      position int not null,
      check (num_nonnulls(account_id, profile_id, role) = 1),
      unique nulls not distinct (label, part, account_id, profile_id, role)
    );
    create index label_principals_account on label_principals (account_id) where account_id is not null;
    create index label_principals_profile on label_principals (profile_id) where profile_id is not null;

    alter table items add column labels int[] not null default '{}';
    create index items_labels on items using gin (labels) where labels <> '{}';
    -- counts up with every change of what carries which label: kept counts are void
    alter table libraries add column labels_seq bigint not null default 0;
    alter table profiles add column hidden_labels int[] not null default '{}', add column only_labels int[],
      -- its last only-label was deleted: it sees nothing until its access is set
      add column labels_lost boolean not null default false;
  `);
  await db.raw(CLOSING);
  await db.raw(SIGHT);
}

const CLOSING = `
  -- without the setting a plan made while the table was empty would read all of it for every row of a first scan
  create function foyer_labels_of(item uuid, parent uuid, grandparent uuid, owner uuid) returns int[] language sql stable
    set enable_seqscan = off as $$
    select coalesce(array_agg(distinct n order by n), '{}') from (
      select l.label as n from item_labels l where l.item_id = item
      union all
      select unnest(above.labels) from items above where above.id in (parent, grandparent, owner)) every
  $$;

  -- what lies below, one level after the other
  create function foyer_items_below(above uuid[]) returns uuid[] language sql stable set enable_seqscan = off as $$
    select coalesce(array_agg(id), '{}') from (
      select id from items where parent_id = any(above) and trashed_at is null
      union select id from items where grandparent_id = any(above) and trashed_at is null
      union select id from items where extra_of = any(above)) below
  $$;

  -- closes the list of these items and of what is below those that changed; answers how many changed
  create function foyer_close_labels(these uuid[]) returns int language plpgsql set enable_seqscan = off as $$
    declare pending uuid[] := these; done uuid[]; changed int := 0;
    begin
      while cardinality(pending) > 0 loop
        with fresh as (
          select i.id, coalesce(array_agg(distinct every.n order by every.n) filter (where every.n is not null), '{}') as labels
          from items i left join lateral (
            select l.label as n from item_labels l where l.item_id = i.id
            union all
            select unnest(above.labels) from items above where above.id in (i.parent_id, i.grandparent_id, i.extra_of)) every on true
          where i.id = any(pending) group by i.id),
        closed as (
          update items i set labels = f.labels, change_seq = l.change_seq, revision = i.revision + 1, updated_at = now()
          from fresh f, libraries l where i.id = f.id and l.id = i.library_id and i.labels <> f.labels returning i.id)
        select coalesce(array_agg(id), '{}') into done from closed;
        changed := changed + cardinality(done);
        pending := foyer_items_below(done);
      end loop;
      return changed;
    end $$;

  create function foyer_label_item() returns trigger language plpgsql as $$ begin
    if exists (select from labels) then
      new.labels := foyer_labels_of(new.id, new.parent_id, new.grandparent_id, new.extra_of);
    else
      new.labels := '{}';
    end if;
    return new;
  end $$;
  create function foyer_label_below() returns trigger language plpgsql as $$ begin
    perform foyer_close_labels(foyer_items_below(array[new.id]));
    return null;
  end $$;
  create trigger items_labels_made before insert on items for each row execute function foyer_label_item();
  create trigger items_labels_moved before update of parent_id, grandparent_id, extra_of, trashed_at on items
    for each row execute function foyer_label_item();
  create trigger items_labels_below after update of parent_id, grandparent_id, extra_of, trashed_at on items
    for each row when (old.labels is distinct from new.labels) execute function foyer_label_below();
`;

const SIGHT = `
  -- what label rules come to for the profiles of an account, or of all
  create function foyer_label_sight(whose uuid) returns void language plpgsql as $$ begin
    perform pg_advisory_xact_lock(hashtext('foyer.label-sight')); -- else two changes at once would each miss the other
    with mine as (
      select p.id, a.id as account_id, a.role, p.main, p.labels_lost from profiles p join accounts a on a.id = p.account_id
      where whose is null or a.id = whose),
    named as (
      select m.id, r.label, r.part from mine m join label_principals r on r.account_id = m.account_id
      union all select m.id, r.label, r.part from mine m join label_principals r on r.profile_id = m.id
      union all select m.id, r.label, r.part from mine m join label_principals r on r.role = m.role),
    hides as (
      select id, label from named where part = 'deny'
      union
      select m.id, l.number from mine m join labels l on l.restricted
        left join named n on n.id = m.id and n.label = l.number and n.part = 'allow' where n.id is null),
    hidden as (select id, array_agg(label order by label) as labels from hides group by id),
    shelf as (select id, array_agg(distinct label order by label) as labels from named where part = 'only' group by id),
    fresh as (
      select m.id, case when m.role = 'owner' and m.main then '{}' else coalesce(h.labels, '{}') end as hidden,
        case when m.role = 'owner' and m.main then null else coalesce(s.labels, case when m.labels_lost then '{}'::int[] end) end as only_these
      from mine m left join hidden h on h.id = m.id left join shelf s on s.id = m.id)
    update profiles p set hidden_labels = f.hidden, only_labels = f.only_these from fresh f
    where p.id = f.id and (p.hidden_labels, p.only_labels) is distinct from (f.hidden, f.only_these);
  end $$;

  create function foyer_label_sight_of_account() returns trigger language plpgsql as $$ begin
    perform foyer_label_sight(new.id);
    return null;
  end $$;
  create function foyer_label_sight_of_profile() returns trigger language plpgsql as $$ begin
    perform foyer_label_sight(new.account_id);
    return null;
  end $$;
  create function foyer_profile_labels_lost() returns trigger language plpgsql as $$ begin
    new.labels_lost := exists (select from profiles p where p.account_id = new.account_id and p.labels_lost);
    return new;
  end $$;
  create function foyer_label_sight_changed() returns trigger language plpgsql as $$ begin
    update accounts set access_version = access_version + 1 where id = new.account_id;
    return null;
  end $$;
  create trigger accounts_label_sight after update of role on accounts for each row when (old.role <> new.role)
    execute function foyer_label_sight_of_account();
  create trigger profiles_labels_lost before insert on profiles for each row execute function foyer_profile_labels_lost();
  create trigger profiles_label_sight after insert on profiles for each row execute function foyer_label_sight_of_profile();
  create trigger profiles_label_sight_lost after update of labels_lost on profiles for each row
    when (old.labels_lost <> new.labels_lost) execute function foyer_label_sight_of_profile();
  create trigger profiles_label_sight_changed after update of hidden_labels, only_labels on profiles for each row
    when ((old.hidden_labels, old.only_labels) is distinct from (new.hidden_labels, new.only_labels))
    execute function foyer_label_sight_changed();
`;

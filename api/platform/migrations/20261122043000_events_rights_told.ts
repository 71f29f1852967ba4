import type { Knex } from 'knex';

/**
 * When rights changed that decide what a client shows, so that who was away meanwhile learns of it (area Events). Rows are only
 * added: changes of the same account do not wait for each other. Job `events.trim` removes old ones.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table rights_told (
      account_id uuid,  -- null: of all
      at timestamptz not null default now()
    );
    create index rights_told_of on rights_told (account_id, at);
    create index rights_told_at on rights_told (at);
    create or replace function tell_rights_of_account() returns trigger language plpgsql as $$ begin
      insert into rights_told (account_id) values (new.id);
      perform pg_notify('foyer_rights', new.id::text);
      return null;
    end $$;
    create or replace function tell_rights_of_all() returns trigger language plpgsql as $$ begin
      insert into rights_told default values;
      perform pg_notify('foyer_rights', '*');
      return null;
    end $$;
    create function tell_rights_of_profile() returns trigger language plpgsql as $$
      declare account uuid := case when tg_op = 'DELETE' then old.account_id else new.account_id end;
    begin
      insert into rights_told (account_id) values (account);
      perform pg_notify('foyer_rights', account::text);
      return null;
    end $$;
    drop trigger profiles_rights on profiles;
    create trigger profiles_rights after insert or delete or update of limits, private, time_zone on profiles
      for each row execute function tell_rights_of_profile();
  `);
}

import type { Knex } from 'knex';

/**
 * Whose rights changed is said by the tables that decide them, so that no writer can forget it: an account's id, or `*`.
 * Open event streams hear it (area Events); requests read their rights each time.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create function tell_rights() returns trigger language plpgsql as $$ begin
      perform pg_notify('foyer_rights', case when tg_op = 'DELETE' then old.account_id else new.account_id end::text);
      return null;
    end $$;
    create function tell_rights_of_account() returns trigger language plpgsql as $$ begin
      perform pg_notify('foyer_rights', new.id::text);
      return null;
    end $$;
    create function tell_rights_of_all() returns trigger language plpgsql as $$ begin
      perform pg_notify('foyer_rights', '*');
      return null;
    end $$;
    create trigger sessions_rights after delete or update of profile_id, expires_at, device_id on sessions
      for each row execute function tell_rights();
    create trigger api_keys_rights after delete or update of scopes, revoked_at, expires_at on api_keys
      for each row execute function tell_rights();
    create trigger accounts_rights after update of role, own_permissions, disabled, expires_at, library_mode, age_limit, hide_unrated,
      viewing_hours, time_zone, restrictions, access_version on accounts
      for each row execute function tell_rights_of_account();
    create trigger profiles_rights after insert or delete or update of limits, private, time_zone on profiles
      for each row execute function tell_rights();
    create trigger devices_rights after update of state on devices
      for each row when (old.state is distinct from new.state) execute function tell_rights();
    create trigger library_access_rights after insert or delete on library_access
      for each statement execute function tell_rights_of_all();
    create trigger libraries_rights after insert or update of everyone, access_roles, age_limit, deleted_at on libraries
      for each statement execute function tell_rights_of_all();
  `);
}

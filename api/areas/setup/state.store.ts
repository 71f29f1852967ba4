import { timingSafeEqual } from 'node:crypto';
import { bearer, cookieValue } from '#identity/credentials.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { sha256 } from '#platform/keys.ts';
import { updateServerState } from '#platform/server-state.ts';
import type { Row } from '#platform/typed-query.ts';

export const setupCookie = (secure: boolean): string => (secure ? '__Secure-foyer_setup' : 'foyer_setup');

/** `setup_checked_at` is when all blocking checks last passed. */
export interface ServerStateRow extends Row<'server_state'> {
  /** An account of role owner exists. */
  owned: boolean;
  /** The ticket has not expired. */
  ticket_lives: boolean;
}

/** The only row. Throws 409 SETUP_ALREADY_COMPLETE once an owner exists; without Postgres it fails, so setup is never open. */
export async function openSetup(db: Db, options: { lock?: boolean } = {}): Promise<ServerStateRow> {
  const query = db('server_state').first<ServerStateRow | undefined>(
    '*',
    db.raw('coalesce(ticket_expires_at > now(), false) as ticket_lives'),
    db.raw(`exists (select 1 from accounts where role = 'owner') as owned`),
  );
  if (options.lock) query.forUpdate();
  const row = await query;
  if (!row) throw new ApiError('SERVICE_STARTING', 'The server is not prepared yet', { waitingFor: 'schema' });
  if (row.setup_completed_at || row.owned) {
    throw new ApiError('SETUP_ALREADY_COMPLETE', 'This server has an owner', { reason: 'setup-complete' });
  }
  return row;
}

function presentedTicket({ headers, client }: Call): string | undefined {
  const token = bearer(headers);
  return token?.startsWith('foyst_') ? token : cookieValue(headers, setupCookie(client.secure));
}

const TICKET_HOUR = `now() + interval '1 hour'`;

/** Whether the request presents the latest ticket; a use prolongs it. */
export async function holdsTicket(call: Call, row: ServerStateRow): Promise<boolean> {
  const ticket = presentedTicket(call);
  if (!ticket || !row.ticket_sha256 || !row.ticket_lives) return false;
  const same = timingSafeEqual(Buffer.from(sha256(ticket)), Buffer.from(row.ticket_sha256));
  if (!same) return false;
  await updateServerState(call.db, { ticket_expires_at: call.db.raw(TICKET_HOUR) });
  return true;
}

/** Throws 401 without the ticket, and 403 for a changing request by cookie without X-Client-Id. */
export async function requireTicket(call: Call, row: ServerStateRow): Promise<void> {
  if (!(await holdsTicket(call, row))) throw new ApiError('UNAUTHENTICATED', 'Claim the server first', {});
  const byCookie = !bearer(call.headers);
  if (byCookie && call.method !== 'GET' && call.method !== 'HEAD' && !call.client.id) {
    throw new ApiError('FORBIDDEN', 'X-Client-Id is missing', { header: 'X-Client-Id' });
  }
}

/** Stores a new ticket, which invalidates the former one; the draft stays. */
export async function storeTicket(db: Db, ticket: string, device: string | undefined): Promise<Date> {
  await updateServerState(db, {
    ticket_sha256: sha256(ticket),
    ticket_expires_at: db.raw(TICKET_HOUR),
    ticket_device: device ?? null,
    claimed_at: new Date(),
  });
  const row = await db('server_state').first('ticket_expires_at');
  if (!row?.ticket_expires_at) throw new Error('no row');
  return row.ticket_expires_at;
}

export interface DeclaredLibrary {
  name: string;
  folders: { rootId: string; path: string }[];
}

/** Libraries that Library resources created before there is an owner. */
export async function declaredLibraries(db: Db): Promise<DeclaredLibrary[]> {
  return db('libraries as l')
    .whereNotNull('l.managed_by')
    .whereNull('l.deleted_at')
    .orderBy('l.name')
    .select(
      'l.name',
      db.raw(`coalesce((select json_agg(json_build_object('rootId', f.storage_id, 'path', f.path))
        from library_folders f where f.library_id = l.id), '[]') as folders`),
    );
}

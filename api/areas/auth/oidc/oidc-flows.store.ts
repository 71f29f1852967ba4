import { createHash, randomBytes } from 'node:crypto';
import type { Db } from '#platform/db.ts';
import { type Keys, seal, unseal } from '#platform/keys.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Keep } from '../auth.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'oidc_flows.keep': Keep;
  }
}

const MINUTES = 10;
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const placeOf = (state: string): string => `oidc_flows|verifier|${hashOf(state).toString('hex')}`;
const random = (): string => randomBytes(32).toString('base64url');

export type Intent = 'sign-in' | 'link' | 'confirm';

export interface FlowDraft {
  intent: Intent;
  clientId: string | undefined;
  sessionId: string | undefined;
  issuer: string;
  verifier: string;
  nonce: string;
  redirectUri: string;
  returnTo: string | undefined;
  keep: Keep;
  remember: boolean;
}

/** Stores the start of a flow at the provider; only the client knows `binding`. */
export async function insertFlow(
  db: Db,
  keys: Keys,
  draft: FlowDraft,
): Promise<{ state: string; binding: string; expiresAt: Date }> {
  const [state, binding] = [random(), random()];
  await db('oidc_flows').whereRaw('expires_at < now()').delete();
  const [row] = await db('oidc_flows')
    .insert({
      state_hash: hashOf(state),
      binding_hash: hashOf(binding),
      client_id: draft.clientId ?? null,
      intent: draft.intent,
      session_id: draft.sessionId ?? null,
      issuer: draft.issuer,
      verifier_sealed: seal(keys, draft.verifier, placeOf(state)),
      nonce: draft.nonce,
      redirect_uri: draft.redirectUri,
      return_to: draft.returnTo ?? null,
      keep: draft.keep,
      remember: draft.remember,
      expires_at: db.raw('now() + make_interval(mins => ?)', [MINUTES]),
    })
    .returning('expires_at');
  if (!row) throw new Error('no row');
  return { state, binding, expiresAt: row.expires_at };
}

export interface Flow
  extends Pick<
    Row<'oidc_flows'>,
    'intent' | 'session_id' | 'issuer' | 'nonce' | 'redirect_uri' | 'return_to' | 'keep' | 'remember'
  > {
  verifier: string;
}

interface FlowKey {
  state: string;
  binding: string;
  clientId: string | undefined;
}

const OPEN = 'state_hash = ? and binding_hash = ? and client_id is not distinct from ? and expires_at > now()';
const openBy = (by: FlowKey): (Buffer | string | null)[] => [hashOf(by.state), hashOf(by.binding), by.clientId ?? null];

export async function isFlowOpen(db: Db, by: FlowKey): Promise<boolean> {
  const row = await db('oidc_flows').whereRaw(OPEN, openBy(by)).first('intent');
  return row !== undefined;
}

/** Takes the flow once, for the client that started it; of concurrent requests exactly one gets it. */
export async function takeFlow(db: Db, keys: Keys, by: FlowKey): Promise<Flow | undefined> {
  const found = await db.raw<{ rows: (Omit<Flow, 'verifier'> & { verifier_sealed: string })[] }>(
    `delete from oidc_flows where ${OPEN} returning *`,
    openBy(by),
  );
  const [row] = found.rows;
  if (!row) return undefined;
  const verifier = unseal(keys, row.verifier_sealed, placeOf(by.state));
  return verifier === undefined ? undefined : { ...row, verifier };
}

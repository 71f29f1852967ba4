import type { z } from 'zod';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { OwnershipOffer, ServerClaim } from './ownership.schemas.ts';
import { findOpenOffer, findOwner, type HistoryRow, listHistory, type OfferRow } from './ownership.store.ts';

/** Ownership as the caller may see it. 404 before there is an owner. */
export async function readClaim({ db, deps, who }: Call): Promise<z.input<typeof ServerClaim>> {
  const owner = await findOwner(db);
  const state = await db('server_state').first('server_id', 'identity_since');
  const history = await listHistory(db);
  const [latest] = history;
  if (!owner || !state || !latest) throw notFound();
  const offer = await findOpenOffer(db);
  const party = offer && [offer.from_id, offer.to_id].includes(who.accountId);
  return {
    serverId: state.server_id,
    owner: { userId: owner.id, displayName: owner.display_name, username: owner.username },
    claimedAt: iso(latest.at),
    method: latest.method,
    ...(owner.managed_by && { managedBy: owner.managed_by }),
    identity: { algorithm: 'EdDSA', fingerprint: deps.keys.identityFingerprint, since: iso(state.identity_since) },
    ...(party && { offer: toOffer(offer) }),
    history: history.map(toHistory),
  };
}

function toOffer(row: OfferRow): z.input<typeof OwnershipOffer> {
  return {
    id: row.id,
    to: { userId: row.to_id, displayName: row.to_name },
    by: { userId: row.from_id, displayName: row.from_name },
    keepRole: row.keep_role,
    ...(row.message !== null && { message: row.message }),
    createdAt: iso(row.created_at),
    expiresAt: iso(row.expires_at),
  };
}

function toHistory(row: HistoryRow): z.input<typeof ServerClaim>['history'][number] {
  const from = row.from_id === null ? {} : { from: { userId: row.from_id, displayName: row.from_name ?? '' } };
  return { ...from, to: { userId: row.to_id, displayName: row.to_name }, at: iso(row.at), method: row.method };
}

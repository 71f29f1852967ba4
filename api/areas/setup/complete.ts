import type { z } from 'zod';
import { createAccount } from '#areas/accounts/public.ts';
import { hashPassword, refuseWeak, type SignIn, startSession } from '#areas/auth/public.ts';
import {
  insertFolders,
  insertLibrary,
  LibraryDraft,
  refuseUnfit,
  setAccess,
  tidyPath,
} from '#areas/libraries/public.ts';
import { requestScan } from '#areas/scanning/public.ts';
import { writeChosen } from '#areas/settings/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { updateServerState } from '#platform/server-state.ts';
import { announceSettings } from '#platform/settings.ts';
import { refuseBadDraft, settingsOf } from './draft.ts';
import { type CompleteSetup, SetupDraft } from './setup.schemas.ts';
import { declaredLibraries, type ServerStateRow } from './state.store.ts';

/** Creates owner, settings, libraries and their first scans in the transaction of the caller. */
export async function complete(call: Call, row: ServerStateRow, body: CompleteSetup): Promise<z.input<typeof SignIn>> {
  const { db, emit, deps } = call;
  refuseWeak(call, body.password, { names: [body.username, body.email], field: 'password' });
  const draft = SetupDraft.parse(body.draft ?? row.setup_draft ?? { revision: 0 });
  await refuseBadDraft(call, draft, body.draft ? ['body', 'draft'] : ['body']);
  const passwordHash = await hashPassword(body.password);
  const owner = await createAccount(db, { ...body, role: 'owner', passwordHash });
  const values = settingsOf(draft);
  await writeChosen(db, values, owner.id);
  const asOwner = { ...call, who: { ...call.who, accountId: owner.id } };
  const declared = (await declaredLibraries(db)).map(({ name }) => name.toLowerCase());
  for (const library of draft.libraries)
    if (!declared.includes(library.name.toLowerCase())) await makeLibrary(asOwner, library);
  await updateServerState(db, {
    setup_completed_at: new Date(),
    claim_sha256: null,
    ticket_sha256: null,
    ticket_expires_at: null,
    setup_draft: null,
  });
  if (Object.keys(values).length > 0) await emit('settings.changed', { keys: Object.keys(values) });
  call.afterCommit(async () => {
    await announceSettings(deps.redis);
    await deps.settings.reload();
    await deps.vitals.look();
  });
  return startSession(call, { accountId: owner.id, method: 'setup', keep: body.keep, remember: body.remember });
}

async function makeLibrary(call: Call, planned: SetupDraft['libraries'][number]): Promise<void> {
  const { db, who } = call;
  const { name, type, language, agents } = planned;
  const settings = { ...(language && { language }), ...(agents && { agents }) };
  const id = await insertLibrary(db, LibraryDraft.parse({ name, type, settings }));
  const folders = planned.folders.map((folder) => ({ storageId: folder.rootId, path: tidyPath(folder.path) }));
  await refuseUnfit(db, { libraryId: id, type }, folders);
  await insertFolders(db, id, { folders, by: who.accountId });
  await setAccess(call, id, { access: { everyone: true, roles: [], accountIds: [] }, isNew: true });
  if (folders.length > 0)
    await requestScan(db, { libraryId: id, mode: 'full', trigger: 'person', byAccountId: who.accountId });
}

/** Of two concurrent requests the second violates the index of owners. */
export function ownerExists(error: unknown): boolean {
  return (error as { constraint?: string }).constraint === 'accounts_one_owner';
}

export function refuseManagedOwner({ deps }: Call): void {
  if (deps.config.ownerFile)
    throw conflict('managed-by-resource', 'A resource makes the owner', {
      fields: ['owner'],
      managedBy: deps.config.managedBy,
    });
}

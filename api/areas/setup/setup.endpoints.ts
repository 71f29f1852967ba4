import { SignIn } from '#areas/auth/public.ts';
import { libraryTypes } from '#areas/libraries/public.ts';
import { fullVersion } from '#areas/server/public.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { iso } from '#kernel/schemas.ts';
import { languages } from '#platform/languages.ts';
import { updateServerState } from '#platform/server-state.ts';
import { BLOCKING, runChecks } from './checks.ts';
import { complete, ownerExists, refuseManagedOwner } from './complete.ts';
import { refuseBadDraft } from './draft.ts';
import { describeRoot, listRoot } from './folders.ts';
import {
  ChecksRun,
  CompleteSetup,
  FoldersQuery,
  RunChecks,
  SetupDraft,
  SetupFolders,
  SetupState,
} from './setup.schemas.ts';
import { declaredLibraries, holdsTicket, openSetup, requireTicket, type ServerStateRow } from './state.store.ts';

const because =
  'no account exists before setup; a setup ticket is the credential of the client that claimed the server';
const access = { anyone: true, because } as const;
const errors = ['SETUP_ALREADY_COMPLETE', 'UNAUTHENTICATED', 'FORBIDDEN', 'CONFLICT'] as const;
/** Before the body is validated: 409 once there is an owner, 401 without the ticket. */
const proof = async (call: Call): Promise<void> => requireTicket(call, await openSetup(call.db));

export const getSetup = defineEndpoint({
  operationId: 'getSetup',
  method: 'get',
  path: '/setup',
  summary: 'Get the state of the first-run setup',
  description:
    'Without a setup ticket only the step, the name and the languages are returned. `step` is the first part that is still missing. It is 409 `SETUP_ALREADY_COMPLETE` once the server has an owner.',
  access,
  answer: json(200, SetupState),
  errors,

  async handle(_input, call) {
    const row = await openSetup(call.db);
    return stateOf(call, row, await holdsTicket(call, row));
  },
});

/** The first part that is still missing. Libraries that resources declare count too. */
function stepOf(row: ServerStateRow, draft: SetupDraft | undefined, declared: number): SetupState['step'] {
  if (!draft) return 'server';
  if (draft.libraries.length + declared === 0) return 'libraries';
  return row.setup_checked_at ? 'owner' : 'checks';
}

async function stateOf({ db, deps }: Call, row: ServerStateRow, claimed: boolean): Promise<SetupState> {
  const short = { claimed, serverName: deps.settings.get('server.name'), languages: [...languages] };
  if (!claimed) return { step: 'claim', ...short };
  const parsed = SetupDraft.safeParse(row.setup_draft);
  const draft = parsed.success ? { ...parsed.data, revision: row.setup_draft_revision } : undefined;
  const declared = await declaredLibraries(db);
  return {
    step: stepOf(row, draft, declared.length),
    ...short,
    version: fullVersion,
    ...(draft && { draft }),
    managed: [...Object.keys(deps.config.declaredSettings), ...declared.map(({ name }) => `libraries.${name}`)],
    roots: await Promise.all(deps.config.mediaRoots.map(describeRoot)),
    types: [...libraryTypes],
    savedAt: iso(row.setup_saved_at),
  };
}

export const saveSetupDraft = defineEndpoint({
  operationId: 'saveSetupDraft',
  method: 'put',
  path: '/setup/draft',
  summary: 'Save the draft of the setup',
  description:
    'Replaces the whole draft; nothing takes effect before `completeSetup`. Every issue is reported in one 400. `revision` is the one that was read: when another browser saved in between it is 409 `revision`. Values that a resource declares are 409 `managed-by-resource`.',
  access,
  proof,
  body: SetupDraft,
  answer: json(200, SetupState),
  errors,

  async handle({ body }, call) {
    const row = await openSetup(call.db, { lock: true });
    await requireTicket(call, row);
    await refuseBadDraft(call, body);
    if (body.revision !== row.setup_draft_revision) {
      throw conflict('revision', 'Another browser saved the draft in between', { revision: row.setup_draft_revision });
    }
    const revision = row.setup_draft_revision + 1;
    const change = { setup_draft: JSON.stringify(body), setup_draft_revision: revision, setup_saved_at: call.now };
    await updateServerState(call.db, change);
    return stateOf(call, { ...row, ...change, setup_draft: body }, true);
  },
});

export const listSetupFolders = defineEndpoint({
  operationId: 'listSetupFolders',
  method: 'get',
  path: '/setup/folders',
  summary: 'List the folders below a media root',
  description:
    'Lists at most 500 folders by name, each with file counts and a suggested library type. An unknown root or folder, and a path that leaves the root, are 404. A root that is slow or unavailable is 423 `STORAGE_UNAVAILABLE`.',
  access,
  proof,
  query: FoldersQuery,
  answer: json(200, SetupFolders),
  errors: [...errors, 'NOT_FOUND', 'STORAGE_UNAVAILABLE'],

  async handle({ query }, call) {
    return listRoot(call.deps.config, query.rootId, query.path);
  },
});

const CHECKS_AN_HOUR = 10;
const HOUR_MS = 3_600_000;
const RUNNING = 'setup:checks';
const LONGEST_SEC = 20;

/** One run at a time across all replicas; without Redis concurrent runs are possible. */
async function exclusively<T>({ deps: { redis } }: Call, work: () => Promise<T>): Promise<T> {
  const mine = await redis.set(RUNNING, '1', 'EX', LONGEST_SEC, 'NX').catch(() => 'OK');
  if (!mine) throw new ApiError('RATE_LIMITED', 'The checks are running', { retryAfterSec: LONGEST_SEC });
  try {
    return await work();
  } finally {
    await redis.del(RUNNING).catch(() => 0);
  }
}

export const runSetupChecks = defineEndpoint({
  operationId: 'runSetupChecks',
  method: 'post',
  path: '/setup/checks',
  summary: 'Check the dependencies of the server',
  description:
    'Runs real tests in parallel within 20 seconds; `checks` selects some of them. Only a failed database, workers or ffmpeg prevents completing the setup. One run at a time and ten an hour (429).',
  access,
  proof,
  body: RunChecks,
  optionalBody: true,
  transaction: 'manual',
  answer: json(200, ChecksRun),
  errors: [...errors, 'RATE_LIMITED'],

  async handle({ body }, call) {
    const { redis, config } = call.deps;
    const limiter = { redis, replicas: config.replicas, windowMs: HOUR_MS };
    await limitAttempts(limiter, 'setup-checks', CHECKS_AN_HOUR);
    const run = await exclusively(call, () => runChecks(call, body.checks));
    const all = BLOCKING.every((id) => run.items.some((check) => check.id === id));
    if (all) await updateServerState(call.db, { setup_checked_at: run.canComplete ? call.now : null });
    return run;
  },
});

export const completeSetup = defineEndpoint({
  operationId: 'completeSetup',
  method: 'post',
  path: '/setup/complete',
  summary: 'Complete the setup',
  description:
    'One transaction creates the owner, the settings, the storages and the libraries, queues the first scans and invalidates the ticket; a refusal changes nothing. Without `draft` the saved one is used. Of two concurrent requests one gets 201, the other 409 `SETUP_ALREADY_COMPLETE`. The checks need not have run.',
  access,
  proof,
  body: CompleteSetup,
  answer: json(201, SignIn),
  errors: [...errors, 'STORAGE_UNAVAILABLE'],
  emits: ['user.created', 'settings.changed', 'library.scan.started'],

  async handle({ body }, call) {
    const row = await openSetup(call.db, { lock: true });
    refuseManagedOwner(call);
    await requireTicket(call, row);
    try {
      return await complete(call, row, body);
    } catch (error) {
      if (!ownerExists(error)) throw error;
      throw new ApiError('SETUP_ALREADY_COMPLETE', 'This server has an owner', { reason: 'setup-complete' });
    }
  },
});

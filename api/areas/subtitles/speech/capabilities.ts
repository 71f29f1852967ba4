import { isEditingAdmin } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { allowanceOf, readAllowance } from '../allowance/allowance.ts';
import { SEARCHES_AN_HOUR } from '../find/limits.ts';
import { countSearches, isSearching } from '../find/searches.store.ts';
import { type ProviderState, providerStates } from '../providers/providers.ts';
import { requireTool, type SubtitleTool } from '../tools.ts';
import { countWaiting, type Demand } from './line.store.ts';
import { countSpeechWorkers, findModel, type ModelRow, paceOf } from './models.store.ts';
import type { SubtitleCapabilities, Tool } from './speech.schemas.ts';

type Reason = NonNullable<Tool['reason']>;

/** What the caller may do with subtitles, and what the server can. Read from Postgres alone. */
export async function readCapabilities(call: Call): Promise<SubtitleCapabilities> {
  const allowance = allowanceOf(call) && (await readAllowance(call));
  const spent: Reason[] = allowance?.left === 0 ? ['allowance-spent'] : [];
  return {
    ...(await foundTools(call, spent)),
    sync: toolOf(call, 'sync', spent),
    admin: isEditingAdmin(call.who),
    ...(allowance && { allowance }),
    ...(await speechTools(call, spent)),
  };
}

type Speech = 'generate' | 'model' | 'secondsPerMinute' | 'languages' | 'translatesInto' | 'waiting';

/** Making subtitles from speech, with the model in force. */
async function speechTools(call: Call, spent: readonly Reason[]): Promise<Pick<SubtitleCapabilities, Speech>> {
  const { db, deps } = call;
  const model = await findModel(db, deps.settings.get('subtitles.model'));
  const usable = model?.fault === '' ? model : undefined;
  const waiting = await countWaiting(db);
  const pace = paceOf(usable);
  return {
    generate: toolOf(call, 'generate', usable ? spent : ['no-model']),
    ...(model && { model: await shownModel(call, model, waiting) }),
    ...(pace !== undefined && { secondsPerMinute: Math.round(pace * 100) / 100 }),
    languages: usable?.languages ?? [],
    translatesInto: usable && usable.languages.length > 1 ? ['en'] : [],
    waiting: { single: waiting.single, batch: waiting.batch },
  };
}

/** Finding and fetching, with the providers and the searches of somebody with limits. */
async function foundTools(
  call: Call,
  spent: readonly Reason[],
): Promise<Pick<SubtitleCapabilities, 'find' | 'fetch' | 'searches' | 'providers'>> {
  const providers = await providerStates(call.deps);
  const searches = allowanceOf(call) && (await searchesOf(call));
  const reasons = [...silenceOf(providers), ...spent];
  const searched: Reason[] = searches?.left === 0 ? ['searches-spent'] : [];
  return {
    find: toolOf(call, 'find', [...reasons, ...searched]),
    fetch: toolOf(call, 'find', reasons),
    ...(searches && { searches }),
    providers,
  };
}

const silenceOf = (providers: readonly ProviderState[]): Reason[] => {
  if (providers.length === 0) return ['no-provider'];
  return providers.some(({ ok }) => ok) ? [] : ['provider-down'];
};

/** The searches of this hour of somebody with limits. */
async function searchesOf({ db, who }: Call): Promise<NonNullable<SubtitleCapabilities['searches']>> {
  const { made } = await countSearches(db, who.accountId);
  const left = Math.max(0, SEARCHES_AN_HOUR - made);
  return { perHour: SEARCHES_AN_HOUR, left, running: await isSearching(db, who.accountId) };
}

/** Whether the caller may use a tool; `reasons` are those of the server and of the account's day. */
function toolOf(call: Call, tool: SubtitleTool, reasons: readonly Reason[]): Tool {
  const refused = refusalOf(call, tool) ?? reasons[0];
  return refused ? { allowed: false, reason: refused } : { allowed: true };
}

function refusalOf(call: Call, tool: SubtitleTool): Reason | undefined {
  try {
    requireTool(call, tool);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return 'restriction' in error.details ? 'not-permitted' : 'switched-off';
  }
}

async function shownModel(
  { db }: Call,
  { name, device, fault }: ModelRow,
  { single, batch, resting }: Demand,
): Promise<NonNullable<SubtitleCapabilities['model']>> {
  const shown = { name, device: device ?? ('cpu' as const) };
  if (fault !== '') return { ...shown, state: 'unavailable' };
  if ((await countSpeechWorkers(db)) > 0) return { ...shown, state: 'ready' };
  return { ...shown, state: single + (resting ? 0 : batch) > 0 ? 'starting' : 'asleep' };
}

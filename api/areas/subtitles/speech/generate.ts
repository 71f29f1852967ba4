import { getVisibleItem, holdVisibleItem } from '#areas/items/public.ts';
import { refuseUnavailableSource } from '#areas/streaming/public.ts';
import { isEditingAdmin } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import { spendFor } from '../allowance/allowance.ts';
import { giveBackUse } from '../allowance/uses.store.ts';
import { announceSubtitles } from '../announce.ts';
import { requireTool } from '../tools.ts';
import { type Film, findFilms } from './films.view.ts';
import { heardAs } from './languages.ts';
import { findModel, type ModelRow } from './models.store.ts';
import {
  cancelRequest,
  countWaitingOf,
  findOpenRequest,
  forgetRequest,
  insertRequests,
  lockRequest,
  type NewRequest,
  type RequestRow,
} from './requests.store.ts';
import { showRequests } from './requests.view.ts';
import type { GenerateBody, GenerationRequest } from './speech.schemas.ts';
import { alreadyMade, HEARD_TYPES, personMade, requestFor, soundtrackOf, type TrackOptions } from './wanted.ts';

const MOST_WAITING = 20;

/** The model of the setting, as a worker found it. Throws 409 `no-model`. */
export async function chosenModel({ db, deps }: Pick<Call, 'db' | 'deps'>): Promise<ModelRow> {
  const model = await findModel(db, deps.settings.get('subtitles.model'));
  if (model?.fault !== '') throw conflict('no-model', 'No speech model can be used on this server');
  return model;
}

/** The model's code of a language that a person named. Throws 400 for one that it does not hear. */
export function namedLanguage(language: string | undefined, { languages }: ModelRow): string | undefined {
  if (language === undefined) return undefined;
  const code = heardAs(language, languages);
  if (!code) throw invalid(['body', 'language'], 'unknown_language', 'the model does not hear this language');
  return code;
}

/** Throws 403 when somebody else than an administrator forces texts over those that a person made. */
function refuseForce({ who }: Call, force: boolean): void {
  if (force && !isEditingAdmin(who))
    throw new ApiError('FORBIDDEN', 'Only administrators may force it', { by: 'force' });
}

/** Requests the subtitles of a soundtrack; with an equal request under way, that one with status 200. */
export async function requestSubtitles(call: Call, itemId: string, body: GenerateBody): Promise<GenerationRequest> {
  const { db, who } = call;
  const item = await holdVisibleItem(db, who, itemId);
  requireTool(call, 'generate');
  refuseForce(call, body.force);
  if (!HEARD_TYPES.includes(item.type)) throw conflict('wrong-type', 'Items of this type are not heard');
  const wanted = await wantedOf(call, itemId, body);
  const open = await findOpenRequest(db, wanted.request);
  if (open) return answerOpen(call, open);
  refuseExisting(wanted, body.force);
  await refuseUnavailableSource(call, { fileId: wanted.request.fileId });
  if ((await countWaitingOf(db, who.accountId)) >= MOST_WAITING)
    throw conflict('too-many-waiting', `${MOST_WAITING} of your requests wait already`);
  const useId = await spendFor(call, { kind: 'generate', itemId });
  const [id] = await insertRequests(db, [wanted.request], { accountId: who.accountId, useId });
  const row = id ? await lockRequest(db, id) : await joinEqual(call, wanted.request, useId);
  return showOne(call, row);
}

/** The equal request that another call made in the meantime. */
async function joinEqual({ db, reply }: Call, request: NewRequest, useId: string | undefined): Promise<RequestRow> {
  const open = await findOpenRequest(db, request);
  if (!open) throw conflict('busy', 'An equal request just ended; try again');
  if (useId) await giveBackUse(db, useId);
  reply.status(200);
  return open;
}

interface Wanted {
  film: Film;
  request: NewRequest;
}

async function wantedOf(call: Call, itemId: string, body: GenerateBody): Promise<Wanted> {
  const film = (await findFilms(call.db, [itemId], body.fileId)).get(itemId);
  if (!film && body.fileId) throw notFound();
  const sound = film && soundtrackOf(film, body.audioStreamId);
  if (film && body.audioStreamId && !sound) throw notFound();
  if (!film || !sound) throw conflict('no-soundtrack', 'It has no soundtrack');
  const model = await chosenModel(call);
  const options: TrackOptions = { language: namedLanguage(body.language, model), task: body.task, model };
  return { film, request: requestFor(film, sound, options) };
}

/** Throws 409 for a text that exists, and for English speech that is to be translated into English. */
function refuseExisting({ film, request }: Wanted, force: boolean): void {
  if (request.task === 'translate' && request.spoken === 'en')
    throw conflict('already-english', 'The soundtrack is in English');
  const made = alreadyMade(film, request);
  if (made) throw conflict('already-made', 'This model already made them', { streamId: made });
  const streamId = force ? undefined : personMade(film, request);
  if (streamId) throw conflict('subtitled', 'A person made subtitles in this language', { streamId });
}

async function answerOpen(call: Call, open: RequestRow): Promise<GenerationRequest> {
  call.reply.status(200);
  return showOne(call, open);
}

async function showOne(call: Call, row: RequestRow | undefined): Promise<GenerationRequest> {
  const [shown] = await showRequests(call, row ? [row] : [], { item: false });
  if (!shown) throw notFound();
  return shown;
}

/** True for a request that waits and of whose sound nothing was heard. */
const isUnheard = ({ state, heard_ms: heardMs, respoken }: RequestRow): boolean =>
  state === 'waiting' && heardMs === 0 && !respoken;

/** Cancels a request that is under way, removes what a finished one made, and forgets an ended one. */
export async function endRequest(call: Call, id: string): Promise<void> {
  const { db, who } = call;
  const row = await lockRequest(db, id);
  if (!row) throw notFound();
  await getVisibleItem(db, who, row.item_id);
  const isOwn = row.account_id === who.accountId;
  if (!isOwn && !isEditingAdmin(who))
    throw new ApiError('FORBIDDEN', 'Somebody else requested it', { by: 'requester' });
  if (row.state === 'waiting' || row.state === 'running')
    return cancelRequest(db, row, { giveBack: !isOwn || isUnheard(row) });
  if (await forgetRequest(db, row)) await announceSubtitles(db, row.item_id);
}

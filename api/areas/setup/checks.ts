import { text } from 'node:stream/consumers';
import { unreadableRoots } from '#areas/storage/public.ts';
import { transcodeSlots, tryEncoders } from '#areas/streaming/public.ts';
import { findSpeechModel } from '#areas/subtitles/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { tryAgents } from '#platform/agents/health.ts';
import { queueHealth } from '#platform/queue.ts';
import { type CheckId, checkIds, type SetupCheck } from './setup.schemas.ts';

type Found = Pick<SetupCheck, 'state' | 'summary'> & { hint?: string };
type Check = (call: Call) => Promise<Found>;

const LIMIT_MS = 15_000;
const CATALOGUES_MS = 8000;

const ok = (summary: string): Found => ({ state: 'ok', summary });
const skipped = (summary: string): Found => ({ state: 'skipped', summary });
const failed = (summary: string, hint: string): Found => ({ state: 'failed', summary, hint });
const warning = (summary: string, hint: string): Found => ({ state: 'warning', summary, hint });

const checks: Record<CheckId, Check> = {
  async database({ deps }) {
    const [row] = await deps.db.transaction(async (transaction) => {
      await transaction.raw('create temporary table setup_check (n int) on commit drop');
      await transaction.from('setup_check').insert({ n: 1 });
      return transaction.from('setup_check').select('n');
    });
    return row?.n === 1
      ? ok('A row was written and read')
      : failed('The written value is missing', 'Look at the database');
  },
  async redis({ deps }) {
    await deps.redis.set('setup:check', '1', 'EX', 10);
    return (await deps.redis.get('setup:check')) === '1'
      ? ok('A value was written and read')
      : failed('The written value is missing', 'Look at Redis');
  },
  async objects({ deps }) {
    await deps.objects.put('foyer-derived', 'setup/check', 'written');
    const read = await text(await deps.objects.get('foyer-derived', 'setup/check'));
    await deps.objects.remove('foyer-derived', ['setup/check']);
    return read === 'written'
      ? ok('An object was written and read')
      : failed('The written value is missing', 'Look at the object store');
  },
  async workers({ deps }) {
    return (await queueHealth(deps.db, [])) !== 'down'
      ? ok('A worker is there')
      : failed('No worker is there', 'Start a worker: nothing is scanned without one');
  },
  ffmpeg: transcoder,
  encoders,
  gpu: accelerator,
  async 'speech-model'({ deps }) {
    const name = deps.settings.get('subtitles.model');
    const found = await findSpeechModel(deps.db, name);
    if (!found) return skipped('No speech worker has looked for a model; subtitles from speech need spec.subtitles');
    if (found.fault !== '') return warning(found.note ?? found.fault, 'Look at the folder of the model');
    return ok(`A worker hears with ${name}`);
  },
  async storage({ deps }) {
    const unreadable = await unreadableRoots(deps.config);
    if (unreadable.length > 0)
      return failed(`Not readable: ${unreadable.join(', ')}`, 'Look at the mounts and their permissions');
    return deps.config.mediaRoots.length > 0
      ? ok('Every media folder is readable')
      : warning('No media folder is mounted', 'Name one in spec.media');
  },
  async clock({ deps }) {
    const found = await deps.db.raw<{ rows: { at: Date }[] }>('select now() as at');
    const skewMs = Math.abs(Date.now() - (found.rows[0]?.at.getTime() ?? 0));
    return skewMs < 5000
      ? ok('Clocks agree')
      : warning(`The clocks differ by ${Math.round(skewMs / 1000)} s`, 'Let all machines keep time');
  },
  async address({ deps }) {
    return deps.settings.get('server.publicUrl') ? ok('A public address is set') : skipped('No public address is set');
  },
  async catalogues({ deps, signal }) {
    if (deps.settings.get('network.offline')) return skipped('The server is offline by its settings');
    const results = await tryAgents(deps.catalogues, { signal, limitMs: CATALOGUES_MS });
    const answered = [...results].filter(([, result]) => result === 'ok').map(([id]) => id);
    return answered.length > 0
      ? ok(`These answer: ${answered.join(', ')}`)
      : warning('No catalogue answers', 'Titles and pictures come from files alone without the internet');
  },
};

const NO_WORKER = failed('No transcode worker is there', 'Install ffmpeg and start a transcode worker');
const ENCODE_MS = 12_000;

/** Transcode workers report whether they have ffmpeg. */
async function transcoder({ deps }: Call): Promise<Found> {
  const { total } = await transcodeSlots(deps.db, deps.redis);
  return total > 0 ? ok('A transcode worker with ffmpeg is there') : NO_WORKER;
}

/** Each worker encodes one second with its encoder and reports the result. */
async function encoders({ deps }: Call): Promise<Found> {
  const tried = await tryEncoders(deps.redis, ENCODE_MS);
  const broken = tried.filter((one) => !one.ok).map(({ encoder, pod }) => `${encoder} (${pod})`);
  if (broken.length > 0) return failed(`Does not encode: ${broken.join(', ')}`, 'The log of the worker has the reason');
  const found = [...new Set(tried.map(({ encoder }) => encoder))];
  return found.length > 0 ? ok(`A second was encoded by ${found.join(', ')}`) : NO_WORKER;
}

/** Whether a transcode worker encodes on an accelerator rather than in software. */
async function accelerator({ deps }: Call): Promise<Found> {
  const hardware = deps.settings.get('transcode.hardware');
  if (hardware === 'off') return skipped('Accelerators are off by transcode.hardware');
  const cards = (await tryEncoders(deps.redis, ENCODE_MS)).filter(({ encoder }) => encoder !== 'libx264');
  const broken = cards.find(({ ok }) => !ok);
  if (broken)
    return failed(`${broken.encoder} does not encode on ${broken.pod}`, 'The log of the worker has the reason');
  if (cards.length > 0)
    return ok(`A second was encoded by ${[...new Set(cards.map(({ encoder }) => encoder))].join(', ')}`);
  if (hardware === 'auto') return skipped('No transcode worker found an accelerator');
  return warning(
    `transcode.hardware is ${hardware}, and no transcode worker has it`,
    'Look at spec.transcode.accelerator',
  );
}

/** Checks whose failure prevents completing the setup. */
export const BLOCKING: readonly CheckId[] = ['database', 'workers', 'ffmpeg'];

/** Runs the checks in parallel, each with its own time limit. */
export async function runChecks(
  call: Call,
  wanted: readonly CheckId[] = checkIds,
): Promise<{ items: SetupCheck[]; canComplete: boolean }> {
  const items = await Promise.all(wanted.map((id) => runOne(call, id)));
  const canComplete = items.every((check) => !BLOCKING.includes(check.id) || check.state !== 'failed');
  return { items, canComplete };
}

async function runOne(call: Call, id: CheckId): Promise<SetupCheck> {
  const began = performance.now();
  const limit = new Promise<Found>((resolve) => {
    setTimeout(() => resolve(failed('No answer in time', 'Look at the log')), LIMIT_MS).unref();
  });
  const found = await Promise.race([checks[id](call), limit]).catch((error: Error) => {
    call.log.warn({ err: error, check: id }, 'setup check');
    return failed('It failed', 'The log has the reason');
  });
  return { id, ...found, tookMs: Math.round(performance.now() - began) };
}

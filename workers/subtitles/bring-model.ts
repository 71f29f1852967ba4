// The init container of a speech pod: brings the model and ends. A fault is its termination message, `Reason: text`, which the
// operator reports. The next run of the container stays until the object store has something else, and then tries again.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { endProcess } from '#platform/leave.ts';
import { createLog } from '#platform/log.ts';
import { connectObjects } from '#platform/objects.ts';
import { bringModel, listModel, ModelFault, type WantedModel } from './model-files.ts';

const config = z
  .object({
    FOYER_OBJECTS_URL: z.string(),
    FOYER_SUBTITLES_MODEL: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
    FOYER_SUBTITLES_MODEL_PREFIX: z.string(),
    FOYER_SUBTITLES_MODEL_SHA256: z.string(),
    FOYER_MODELS_DIR: z.string(),
    FOYER_TERMINATION_LOG: z.string().default('/dev/termination-log'),
    FOYER_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  })
  .parse(process.env);
const log = createLog(config.FOYER_LOG_LEVEL, 'subtitles');
const objects = connectObjects(config.FOYER_OBJECTS_URL);
const wanted: WantedModel = {
  name: config.FOYER_SUBTITLES_MODEL,
  prefix: config.FOYER_SUBTITLES_MODEL_PREFIX,
  sha256: config.FOYER_SUBTITLES_MODEL_SHA256,
  dir: config.FOYER_MODELS_DIR,
};
/** The fault that an earlier run of this container ended with: the volume lasts as long as the pod. */
const REPORTED = join(wanted.dir, '.reported');
const LOOK_MS = 3000;
/** Before another attempt with a store that failed. */
const UNREACHABLE_MS = 30_000;

process.once('SIGTERM', () => void endProcess(0));
process.once('SIGINT', () => void endProcess(0));

function reported(): string {
  try {
    return readFileSync(REPORTED, 'utf8');
  } catch {
    return '';
  }
}

/** What the store has now; equal texts mean that another attempt would end in the same way. */
async function stateOfStore(): Promise<string> {
  return listModel(objects, wanted).then(
    (found) => JSON.stringify(found),
    (error: Error) => error.message,
  );
}

async function attempt(): Promise<ModelFault | undefined> {
  try {
    await bringModel(objects, wanted);
    return undefined;
  } catch (error) {
    if (error instanceof ModelFault) return error;
    throw error;
  }
}

async function bring(): Promise<number> {
  for (;;) {
    const before = await stateOfStore();
    const fault = await attempt();
    if (!fault) return 0;
    const text = `${fault.reason}: ${fault.message}`;
    if (reported() !== text) {
      log.error({ reason: fault.reason, model: wanted.name }, fault.message);
      writeFileSync(REPORTED, text);
      writeFileSync(config.FOYER_TERMINATION_LOG, text);
      return 1;
    }
    // A store that lists its objects may still not give them out.
    if (fault.reason === 'ObjectsUnreachable') await sleep(UNREACHABLE_MS);
    else while ((await stateOfStore()) === before) await sleep(LOOK_MS);
  }
}

const code = await bring();
if (code === 0) log.info({ model: wanted.name }, 'the model is there');
await endProcess(code);

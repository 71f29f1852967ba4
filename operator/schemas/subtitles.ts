// spec.subtitles and status.subtitles of a MediaServer: the speech workers.
import { z } from 'zod';
import { accelerator, imageName, insidePath, language, modelVolume } from './core.ts';
import { atMostOne, withRules } from './structural.ts';

/** A model is a folder, and its name is that of the folder. */
const MODEL = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export const Subtitles = withRules(
  z.strictObject({
    model: z
      .string()
      .min(1)
      .max(100)
      .regex(MODEL, 'must be the name of a folder, such as base or large-v3')
      .default('base')
      .describe('Speech model: the name of its folder, in the layout of CTranslate2.'),
    language: language().optional().describe('Assumed language; default: detected.'),
    image: imageName()
      .optional()
      .describe(
        'Image of the speech workers, with Python and faster-whisper; default: that of all components with `-subtitles` after its name.',
      ),
    replicas: z.int().min(0).max(32).optional().describe('Speech workers that always run; default: 1.'),
    scaleToZero: z.boolean().optional().describe('Run one worker while a request waits, and none otherwise.'),
    idleSeconds: z
      .int()
      .min(10)
      .max(86_400)
      .default(300)
      .describe('Seconds without a waiting request after which the worker ends, with `scaleToZero`.'),
    accelerator: accelerator()
      .optional()
      .describe('A GPU for the model; absent is the CPU, which is also used when no GPU is available for 10 s.'),
    modelVolume: modelVolume().optional().describe('Volume with the models; exactly one kind of volume.'),
    modelObjects: z
      .strictObject({
        prefix: insidePath().describe('Prefix of the files of the model in the bucket foyer-models, such as base/.'),
        sha256: z
          .string()
          .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex')
          .describe('SHA-256 of model.bin.'),
      })
      .optional()
      .describe("The model in the server's object store, instead of a volume."),
  }),
  atMostOne('replicas', 'scaleToZero'),
  atMostOne('modelVolume', 'modelObjects'),
);

export const SubtitlesStatus = z
  .object({
    model: z.string().max(1024).optional().describe('Model in use.'),
    device: z.string().max(1024).optional().describe('gpu or cpu.'),
    workers: z.int().min(0).optional().describe('Workers that have loaded the model.'),
    waiting: z.int().min(0).optional().describe('Requests that wait for a worker, or are worked on.'),
    secondsPerMinute: z.number().min(0).optional().describe('Seconds that a minute of sound takes.'),
  })
  .optional()
  .describe('The speech workers.');

import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { readCapabilities } from './capabilities.ts';
import { SubtitleCapabilities } from './speech.schemas.ts';

export const getSubtitleCapabilities = defineEndpoint({
  operationId: 'getSubtitleCapabilities',
  method: 'get',
  path: '/subtitles/capabilities',
  summary: 'Read what can be done with subtitles',
  description:
    'Whether the caller may find, fetch, correct and generate subtitles and why not, the allowance of today, and the speech model with its languages. No provider or worker is called. `secondsPerMinute` is the median of the last 50 checkpoints with this model, before that a measurement at the first start of a worker.',
  access: { permission: 'library:view' },
  answer: json(200, SubtitleCapabilities),

  async handle(_input, call) {
    return readCapabilities(call);
  },
});

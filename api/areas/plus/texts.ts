import { z } from 'zod';
import { plusFeatures } from '#identity/licence.ts';
import { textsOf } from '#platform/languages.ts';

const FeatureText = z.strictObject({
  title: z.string(),
  description: z.string(),
  keptOnLapse: z.string(),
});
export const PlusTexts = z.record(z.enum(plusFeatures), FeatureText);

/** Texts by BCP 47 tag, in English for a language without texts. */
export const plusLanguage = textsOf('plus', PlusTexts);

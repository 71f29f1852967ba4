// Answers of OpenSubtitles, with the members that are read.
import { z } from 'zod';

const text = z.string().nullish();
const number = z.number().nullish();

export const Login = z.object({ token: z.string().min(1).max(8192), base_url: z.string().max(300).nullish() });

export const ErrorBody = z.object({ reset_time_utc: z.string().max(64).nullish() });

const File = z.object({ file_id: z.int().positive(), cd_number: number, file_name: text });

const Attributes = z.object({
  language: z.string().max(20).nullable(),
  download_count: number,
  hearing_impaired: z.boolean().nullish(),
  foreign_parts_only: z.boolean().nullish(),
  ai_translated: z.boolean().nullish(),
  machine_translated: z.boolean().nullish(),
  moviehash_match: z.boolean().nullish(),
  fps: number,
  ratings: number,
  upload_date: text,
  release: text,
  uploader: z.object({ name: text }).nullish(),
  feature_details: z
    .object({ imdb_id: number, tmdb_id: number, parent_imdb_id: number, season_number: number, episode_number: number })
    .partial()
    .nullish(),
  files: z.array(File).max(100),
});
export type Attributes = z.output<typeof Attributes>;

export const Page = z.object({
  total_pages: z.int().nullish(),
  data: z.array(z.object({ attributes: Attributes })).max(500),
});

export const Link = z.object({ link: z.string().min(1).max(4096) });

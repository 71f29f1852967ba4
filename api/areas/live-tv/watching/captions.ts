import { escapedText, webvttBlock } from '#areas/streaming/public.ts';
import { CAPTION_RENDITION, type CaptionService, captionsKey, readCaptions } from '#platform/live/captions.ts';
import type { LiveSegment } from '#platform/live/segments.ts';
import type { Objects } from '#platform/objects.ts';

/** The name that players show: the language, or the service where it is not known. */
function nameOf({ id, language }: CaptionService, names: Intl.DisplayNames): string {
  const name = language === 'und' ? undefined : names.of(language);
  return (
    name ??
    id
      .replace(/^cc/, 'CC')
      .replace(/^service/, 'Service ')
      .replace(/^page/, 'Page ')
  );
}

export const isCaptions = (rendition: string): boolean => CAPTION_RENDITION.test(rendition);

/** The lines of a master playlist for captions; `query` is part of each address. */
export function captionLines(services: readonly CaptionService[], query: string): string[] {
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  const taken = new Set<string>();
  return services.map((service) => {
    const name = nameOf(service, names);
    const unique = taken.has(name) ? `${name} (${service.id})` : name;
    taken.add(unique);
    const attributes = [
      ...['TYPE=SUBTITLES', 'GROUP-ID="captions"', `NAME="${unique}"`],
      ...(service.language === 'und' ? [] : [`LANGUAGE="${Intl.getCanonicalLocales(service.language)[0]}"`]),
      ...['DEFAULT=NO', 'AUTOSELECT=YES', 'FORCED=NO'],
      ...(service.hearingImpaired ? [`CHARACTERISTICS="${FOR_IMPAIRED}"`] : []),
      `URI="${service.id}/index.m3u8${query}"`,
    ];
    return `#EXT-X-MEDIA:${attributes.join(',')}`;
  });
}

const FOR_IMPAIRED = 'public.accessibility.transcribes-spoken-dialog,public.accessibility.describes-music-and-sound';

/** The captions of a segment as WebVTT on the clock of its transport stream; without cues where there are none. */
export async function captionSegment(
  { objects }: { objects: Objects },
  { channelId, segment, rendition }: { channelId: string; segment: LiveSegment; rendition: string },
): Promise<string> {
  const captions = await readCaptions({ objects }, captionsKey(channelId, segment));
  if (!captions) return 'WEBVTT\n';
  const { cues = [] } = captions.services.find(({ id }) => id === rendition) ?? {};
  const blocks = cues.map(({ startMs, endMs, text, line }) => {
    const settings = line === undefined ? undefined : `line:${line}%`;
    return webvttBlock({ startMs, endMs, text: escapedText(text), ...(settings && { settings }) });
  });
  return `WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:${captions.ticks},LOCAL:00:00:00.000\n${blocks.join('')}`;
}

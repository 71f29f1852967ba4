import { constants, copyFileSync, linkSync, mkdirSync, readdirSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Fixtures, fixtures } from '../../hack/fixtures/index.ts';

/** Long enough ago that a scan takes it for complete. */
const OLD = new Date('2020-01-01T00:00:00Z');

/** Made files that a player must get whole, with container and tracks; each gets its number as title and its year from 1961 on. */
export const playable: Record<string, string> = {
  'h264-aac.mp4': 'mp4 video:h264 audio:aac:en audio:aac:ja subtitle:mov_text:fr',
  'h264-aac-end.mp4': 'mp4 video:h264 audio:aac',
  'h264-50fps.mp4': 'mp4 video:h264 audio:aac',
  'h264-gop40.mp4': 'mp4 video:h264 audio:aac',
  'h264-vgop.mp4': 'mp4 video:h264 audio:aac',
  'h264-fragmented.mp4': 'mp4 video:h264 audio:aac',
  'h264-rotated.mp4': 'mp4 video:h264 audio:aac',
  'h264-late-audio.mp4': 'mp4 video:h264 audio:aac',
  'hevc-hvc1.mp4': 'mp4 video:hevc audio:aac',
  'av1-opus.mp4': 'mp4 video:av1 audio:opus',
  'mjpeg-pcm.mov': 'mp4 video:mjpeg audio:pcm',
  'mpeg4-ac3.mov': 'mp4 video:mpeg4 audio:ac3',
  'h264-base.mkv': 'matroska video:h264 audio:aac audio:ac3 audio:eac3 subtitle:subrip subtitle:ass',
  'h264-multi.mkv':
    'matroska video:h264 audio:aac:en audio:ac3:fr audio:eac3:es subtitle:subrip:en:forced subtitle:ass:de:impaired subtitle:pgs:pt-BR attachment:ttf video:mjpeg',
  'h264-flac-offset.mkv': 'matroska video:h264 audio:flac',
  'h264-allintra.mkv': 'matroska video:h264 audio:aac',
  'h264-nocues.mkv': 'matroska video:h264 audio:aac',
  'h264-interlaced.mkv': 'matroska video:h264 audio:aac',
  'hevc-hdr10.mkv': 'matroska video:hevc:hdr10 audio:aac',
  'hevc-hlg.mp4': 'mp4 video:hevc:hlg audio:aac',
  'hevc-opengop.mkv': 'matroska video:hevc audio:aac',
  'hevc-opengop.mp4': 'mp4 video:hevc audio:aac',
  'mpeg4-mp3.mkv': 'matroska video:mpeg4 audio:mp3',
  'vp9-opus.webm': 'webm video:vp9 audio:opus:nl',
  'av1-opus.webm': 'webm video:av1 audio:opus',
  'vp8-vorbis.webm': 'webm video:vp8 audio:vorbis',
  'mpeg4-mp3.avi': 'avi video:mpeg4 audio:mp3',
  'h264-aac-offset.ts': 'mpegts video:h264 audio:aac',
  'mpeg2-ac3.ts': 'mpegts video:mpeg2 audio:ac3:sv',
  'h264-aac.m2ts': 'mpegts video:h264 audio:aac',
  'mpeg2-mp2.mpg': 'mpegps video:mpeg2 audio:mp2',
  'h264.flv': 'flv video:h264 audio:aac',
  'wmv2.wmv': 'asf video:wmv2 audio:wmav2',
};

/** Files that are no film, with the fault that the scan states; they become no item. */
export const hopeless: Record<string, string> = {
  'empty.mkv': 'not-media',
  'garbage.mkv': 'not-media',
  'text.mkv': 'not-media',
  'no-moov.mp4': 'corrupt',
  'magicyuv.avi': 'codec-refused',
  'playlist.mp4': 'playlist-refused',
  'playlist-bom.mkv': 'playlist-refused',
  'dash.mkv': 'playlist-refused',
  'concat.mkv': 'playlist-refused',
  'sdp.mp4': 'playlist-refused',
};

/** Files with a part missing or overwritten, with the fault that the scan can know of; they play as far as they go. */
export const damaged: Record<string, string> = {
  'truncated.mkv': 'truncated',
  'truncated-faststart.mp4': 'truncated',
  'truncated.avi': 'truncated',
  'zeroed.mkv': 'unfinished',
  'zeroed.mp4': 'unfinished',
};
const numbered = [playable, damaged, hopeless].flatMap((list) => Object.keys(list));

export const real = {
  film: 'Movies/Big Buck Bunny (2008)/Big Buck Bunny (2008) - 720p.mp4',
  clip: 'Movies/Big Buck Bunny (2008)/Big Buck Bunny (2008) - 480p.mp4',
  trailer: 'Movies/Big Buck Bunny (2008)/Trailers/Official.mp4',
  bikes: 'Movies/Bikes.2016.720p.mp4',
};

export const episodes: Record<string, string> = {
  'Shows/Test Show (2019)/Season 01/Test Show S01E01 Pilot.mkv': 'h264-multi.mkv',
  'Shows/Test Show (2019)/Season 01/Test Show S01E02-E03 Double.mp4': 'h264-aac.mp4',
  'Shows/Test Show (2019)/Season 02/Test Show - 2x01 - Return.mkv': 'tiny.mkv',
  'Shows/Test Show (2019)/Specials/Test Show S00E01 Making of.mp4': 'tiny.mp4',
  'Shows/Test Show (2019)/Season 01/Test Show S01E01 Pilot.pt-BR.sdh.srt': 'en.srt',
  'Shows/Test Show (2019)/Extras/Outtakes.mkv': 'tiny.mkv',
  'Shows/Daily Talk/Daily Talk 2020-03-04.mkv': 'tiny.mkv',
};

export const fixtureName = (file: string): { title: string; year: number } => {
  const n = numbered.indexOf(file) + 1;
  return { title: `Piece ${String(n).padStart(2, '0')}`, year: 1960 + n };
};

const extension = (file: string): string => file.slice(file.lastIndexOf('.'));
export const placeOf = (library: string, file: string): string => {
  const { title, year } = fixtureName(file);
  return `${library}/${title} (${year})/${title} (${year})${extension(file)}`;
};

/** The fixtures under the names that a household gives its films. */
export async function layMedia(media: string): Promise<void> {
  const from = await fixtures();
  const put = (target: string, source: string): void => place(join(media, target), source);
  layReal(put, from);
  for (const file of Object.keys(playable)) put(placeOf('Movies', file), join(from.made, file));
  for (const file of Object.keys({ ...damaged, ...hopeless })) put(placeOf('Broken', file), join(from.made, file));
  for (const [target, file] of Object.entries(episodes)) put(target, join(from.made, file));
  mkdirSync(join(media, 'Names'));
  for (const name of readdirSync(join(from.made, 'names'), 'buffer')) {
    const target = Buffer.concat([Buffer.from(`${join(media, 'Names')}/`), name]);
    copyFileSync(join(from.made, 'tiny.mkv'), target);
    utimesSync(target, OLD, OLD);
  }
  symlinkSync('/etc/hostname', join(media, 'Movies', 'Outside (2000).mkv'));
  symlinkSync(dirname(from.made), join(media, 'Movies', 'Folder outside (2001)'));
}

function layReal(put: (target: string, source: string) => void, { real: fetched, made }: Fixtures): void {
  put(real.film, join(fetched, 'video', 'bbb_full_720p.mp4'));
  put(real.clip, join(fetched, 'video', 'bigbuckbunny.mp4'));
  put(real.trailer, join(fetched, 'video', 'bbb_trailer_720p.mp4'));
  put(real.bikes, join(fetched, 'video', 'bikes.mp4'));
  put(real.film.replace(/mp4$/, 'de.forced.srt'), join(made, 'en.srt'));
  put(real.film.replace(/mp4$/, 'en.ass'), join(made, 'de.ass'));
}

function place(target: string, source: string): void {
  mkdirSync(dirname(target), { recursive: true });
  try {
    linkSync(source, target);
  } catch {
    copyFileSync(source, target, constants.COPYFILE_FICLONE);
    utimesSync(target, OLD, OLD);
  }
}

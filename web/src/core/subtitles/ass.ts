// SubStation subtitles by libass, loaded with the first such track.
import JASSUB from 'jassub';
import defaultFont from 'jassub/dist/default.woff2?url';
import wasmUrl from 'jassub/dist/wasm/jassub-worker.wasm?url';
import modernWasmUrl from 'jassub/dist/wasm/jassub-worker-modern.wasm?url';
import workerUrl from 'jassub/dist/worker/worker.js?worker&url';

export interface AssOptions {
  video: HTMLVideoElement;
  canvas: HTMLCanvasElement;
  content: string;
  /** Addresses of the fonts that the file has. */
  fonts: readonly string[];
}

export interface AssTrack {
  setOffset(ms: number): void;
  /** Draws again where the picture stands still. */
  redraw(): void;
  destroy(): void;
}

const FALLBACK = 'liberation sans';
/** What libass may keep of drawn shapes, so that a file of drawings cannot take the memory of the page. */
const MEMORY_MB = 128;
const GLYPHS = 4096;

export async function assTrack({ video, canvas, content, fonts }: AssOptions): Promise<AssTrack> {
  const renderer = new JASSUB({
    video,
    canvas,
    subContent: content,
    fonts: [...fonts, defaultFont], // one that comes only when it is missed would not be drawn in a paused film
    availableFonts: { [FALLBACK]: defaultFont },
    defaultFont: FALLBACK,
    queryFonts: false, // its other modes ask another host
    workerUrl,
    wasmUrl,
    modernWasmUrl,
    libassMemoryLimit: MEMORY_MB,
    libassGlyphLimit: GLYPHS,
    maxRenderHeight: 1080,
  });
  await renderer.ready;
  const redraw = (): void => {
    const { currentTime: mediaTime, videoWidth: width, videoHeight: height } = video;
    if (width === 0) return;
    const moment = { mediaTime, width, height, expectedDisplayTime: performance.now() };
    void renderer.manualRender(moment, true).catch(() => undefined);
  };
  redraw();
  return {
    setOffset(ms) {
      renderer.timeOffset = -ms / 1000;
      redraw();
    },
    redraw,
    destroy: () => void renderer.destroy().catch(() => undefined),
  };
}

import { extname } from 'node:path';

const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['.css', 'text/css'],
  ['.csv', 'text/csv'],
  ['.htm', 'text/html'],
  ['.html', 'text/html'],
  ['.js', 'text/javascript'],
  ['.json', 'application/json'],
  ['.markdown', 'text/markdown'],
  ['.md', 'text/markdown'],
  ['.mjs', 'text/javascript'],
  ['.svg', 'image/svg+xml'],
  ['.xml', 'application/xml'],
  ['.yaml', 'application/yaml'],
  ['.yml', 'application/yaml'],
]);

const BINARY_EXTENSIONS: ReadonlySet<string> = new Set(
  [
    '.7z .a .avi .avif .bin .bmp .bz2 .class .db .deb .dll .dmg .doc .docx .dylib .eot .exe .flac .gif .gz .heic .icns',
    '.ico .iso .jar .jpeg .jpg .lz4 .mkv .mov .mp3 .mp4 .mpeg .o .odt .ogg .otf .pdf .png .ppt .pptx .pyc .rar .rpm',
    '.so .sqlite .tar .tgz .tif .tiff .ttf .wasm .wav .webm .webp .woff .woff2 .xls .xlsx .xz .zip .zst',
  ].flatMap((line) => line.split(' ')),
);

/** The media type to say for a text file. */
export function mediaTypeOf(path: string): string {
  return MEDIA_TYPES.get(extname(path).toLowerCase()) ?? 'text/plain';
}

/** Whether the name alone tells that this is no text. Its content is looked at when it is read. */
export function isBinaryByName(path: string): boolean {
  return BINARY_EXTENSIONS.has(extname(path).toLowerCase());
}

/** What a reader of the file is told about it. All of it is clean text, see `cleanText`. */
export type DocumentInformation = {
  readonly title: string;
  readonly subject: string;
  readonly author: string;
  /** Of its own words, BCP 47. */
  readonly language: string;
  readonly createdMs: number;
};

/** What a document says of itself, as XMP (ISO 16684-1). */
export function informationXml(information: DocumentInformation, creator: string): string {
  const { title, subject, author, language, createdMs } = information;
  const created = `${new Date(createdMs).toISOString().slice(0, 19)}Z`;
  const inLanguages = (text: string): string =>
    `<rdf:Alt><rdf:li xml:lang="x-default">${escaped(text)}</rdf:li></rdf:Alt>`;
  return `<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">
<dc:format>application/pdf</dc:format>
<dc:title>${inLanguages(title)}</dc:title>
<dc:description>${inLanguages(subject)}</dc:description>
<dc:creator><rdf:Seq><rdf:li>${escaped(author)}</rdf:li></rdf:Seq></dc:creator>
<dc:language><rdf:Bag><rdf:li>${escaped(language)}</rdf:li></rdf:Bag></dc:language>
<xmp:CreateDate>${created}</xmp:CreateDate>
<xmp:CreatorTool>${escaped(creator)}</xmp:CreatorTool>
<pdf:Producer>${escaped(creator)}</pdf:Producer>
</rdf:Description>`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!);
}

import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json } from '@codemirror/lang-json'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Compartment, EditorState } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'
import './code-editor.css'

export type CodeLanguage = 'YAML' | 'JSON'
/** A place in the text, in UTF-16 units. */
export type CodePlace = { from: number; to: number }

type CodeEditorProps = {
  /** Names the field for screen readers. */
  label: string
  language: CodeLanguage
  value: string
  onChange: (value: string) => void
  /** What is wrong, at its places. */
  flaws: readonly (CodePlace & { message: string })[]
  /** Goes there whenever another object is given. */
  goTo: CodePlace | undefined
}

/** Keys and their values are told by weight alone: colour is for states. */
const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], class: 'code-key' },
  { tag: tags.comment, class: 'code-comment' },
  { tag: [tags.punctuation, tags.separator, tags.bracket], class: 'code-mark' },
])
const grammars = { YAML: yaml, JSON: json }

/** A field for code. Tab leaves it, as any other field; Ctrl ] and Ctrl [ indent. Load it lazily. */
export function CodeEditor({ label, language, value, onChange, flaws, goTo }: CodeEditorProps) {
  const frame = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const grammar = useRef(new Compartment())
  const named = useRef(new Compartment())
  const change = useRef(onChange)
  change.current = onChange
  const first = useRef({ label, language, value })
  useEffect(() => {
    if (!frame.current) return
    const { label, language, value } = first.current
    const editor = new EditorView({
      parent: frame.current,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          bracketMatching(),
          indentUnit.of('  '),
          syntaxHighlighting(highlight),
          keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
          grammar.current.of(grammars[language]()),
          named.current.of(EditorView.contentAttributes.of({ 'aria-label': label })),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) change.current(update.state.doc.toString())
          }),
        ],
      }),
    })
    view.current = editor
    return () => {
      view.current = null
      editor.destroy()
    }
  }, [])
  useEffect(() => {
    view.current?.dispatch({ effects: grammar.current.reconfigure(grammars[language]()) })
  }, [language])
  useEffect(() => {
    const attributes = EditorView.contentAttributes.of({ 'aria-label': label })
    view.current?.dispatch({ effects: named.current.reconfigure(attributes) })
  }, [label])
  useEffect(() => {
    const editor = view.current
    if (!editor || editor.state.doc.toString() === value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } })
  }, [value])
  useEffect(() => {
    const editor = view.current
    if (!editor) return
    const end = editor.state.doc.length
    const diagnostics = flaws.map(({ from, to, message }) => ({
      from: Math.min(from, end),
      to: Math.min(to, end),
      message,
      severity: 'error' as const,
    }))
    editor.dispatch(setDiagnostics(editor.state, diagnostics))
  }, [flaws])
  useEffect(() => {
    const editor = view.current
    if (!editor || !goTo) return
    const anchor = Math.min(goTo.from, editor.state.doc.length)
    editor.dispatch({
      selection: { anchor },
      effects: EditorView.scrollIntoView(anchor, { y: 'center' }),
    })
    editor.focus()
  }, [goTo])
  return <div className="code-editor" ref={frame} />
}
